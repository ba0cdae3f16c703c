import { type StepState, stateAt, type ViewStep } from '@belay/graph-view'
import { useMemo, useRef, useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { OpenStep } from '../../../src/api.ts'
import { Status } from '../glyph.tsx'
import { counted, instant, span } from '../words.ts'
import { FindStep, isFound } from './find-step.tsx'
import { countsOf } from './items.tsx'
import { ActButton, type TabProps } from './tab.tsx'
import { useRows } from './use-rows.ts'
import { LARGE, useSeen } from './use-seen.ts'

/** The steps as a table: the twin of graph and timeline, with every attempt that is known. Of a large run, only the rows in sight are there. */
export function StepsTab({ page, act }: TabProps) {
  const { run, open } = page
  const host = useRef<HTMLElement>(null)
  const [text, setText] = useState('')
  const names = useMemo(() => run.steps.map(({ name }) => name), [run.steps])
  const found = useMemo(() => run.steps.filter(({ name }) => isFound(name, text)), [run.steps, text])
  const waits = useMemo(() => new Map(open.map((each) => [each.step, each])), [open])
  const isLarge = run.steps.length >= LARGE
  const rows = useRows(host, found, useSeen(host, !isLarge))
  return (
    <>
      <div class="bar">
        <FindStep names={names} onText={setText} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section ref={host} class={isLarge ? 'scroller tall' : 'scroller'} tabIndex={0} aria-label="Steps">
        <table class="steps" aria-rowcount={found.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
              <th>Status</th>
              <th>Step</th>
              <th>After</th>
              <th>Attempts</th>
              <th>Undo</th>
              <th>What it waits for, and errors</th>
            </tr>
          </thead>
          <tbody>
            <Gap height={rows.above} />
            {found.slice(rows.from, rows.to).map((step, index) => (
              <Row
                key={step.name}
                index={rows.from + index}
                step={step}
                wait={waits.get(step.name)}
                {...{ page, act }}
              />
            ))}
            <Gap height={rows.below} />
          </tbody>
        </table>
      </section>
    </>
  )
}

/** In place of rows that are not in sight. An attribute, as the page's policy forbids inline styles. */
function Gap({ height }: { readonly height: number }) {
  if (height === 0) return null
  return (
    <tr aria-hidden class="gap">
      <td colSpan={6}>
        <svg width={1} height={height} aria-hidden="true" />
      </td>
    </tr>
  )
}

interface RowProps extends TabProps {
  readonly index: number
  readonly step: ViewStep
  readonly wait: OpenStep | undefined
}

function Row({ page: { run }, act, index, step, wait }: RowProps) {
  const state = stateAt(run, step, run.readAt)
  return (
    <tr aria-rowindex={index + 2} data-name={step.name}>
      <td>
        <Status status={isUndoShown(state) ? step.status : state.forward} />
      </td>
      <th scope="row">
        {step.name}
        {step.kind !== 'work' && <span class="weak"> {step.kind}</span>}
      </th>
      <td class="weak">{step.dependsOn.join(', ')}</td>
      <td>
        <Attempts step={step} now={run.readAt} />
      </td>
      <td>{undoWord(step, state)}</td>
      <td>
        {wait && <p>{wait.sentence}</p>}
        {!wait && step.skipped && <p>Skipped: {step.skipped}.</p>}
        {step.error && <p class="s-failed">{step.error}</p>}
        {step.undo?.error && <p class="s-undoing">Undo: {step.undo.error}</p>}
        {step.items && (
          <p>
            {countsOf(step.items)}{' '}
            <Link href={`/runs/${run.id}/items?map=${encodeURIComponent(step.name)}`}>All items</Link>
          </p>
        )}
        {step.childId && <Link href={`/runs/${step.childId}`}>Its run</Link>}
        {wait?.actions.map((action) => (
          <ActButton key={action.verb} action={action} act={act} />
        ))}
      </td>
    </tr>
  )
}

function Attempts({ step, now }: { readonly step: ViewStep; readonly now: number }) {
  const forward = step.known.filter(({ direction }) => direction === 'forward')
  if (forward.length === 0) return <span class="weak">{step.attempts === 0 ? 'none' : step.attempts}</span>
  return (
    <details>
      <summary>
        {counted(step.attempts, 'attempt')}
        {step.losses > 0 && `, ${step.losses} lost`}
      </summary>
      <ol class="attempts">
        {step.known.map((each) => (
          <li key={`${each.direction}${each.round}.${each.attempt}`}>
            {each.direction === 'undo' ? 'Undo ' : ''}
            {each.attempt}: {each.ended}, {instant(each.startAt, now)}
            {each.endAt !== undefined && `, ${span(each.endAt - each.startAt)}`}
            {each.error && <span class="s-failed"> {each.error}</span>}
          </li>
        ))}
      </ol>
    </details>
  )
}

/** As graph and timeline show it: a step whose undo has not begun is still what its way forward came to. */
function isUndoShown({ undo }: StepState): boolean {
  return undo !== undefined && undo !== 'to undo'
}

function undoWord(step: ViewStep, { undo }: StepState): string {
  if (undo === 'undone' && step.undo?.skipped) return 'marked as undone'
  if (undo !== undefined) return undo
  if (step.kept) return 'kept'
  if (step.irreversible) return 'cannot be undone'
  if (step.compensate === 'never') return 'none'
  return step.status === 'failed' && step.compensate === 'completed' ? 'nothing to undo' : 'has one'
}
