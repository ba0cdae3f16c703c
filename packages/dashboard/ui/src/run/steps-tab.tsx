import { type StepState, stateAt, type ViewStep } from '@belay/graph-view'
import { Link } from 'wouter'
import { Status } from '../glyph.tsx'
import { counted, figure, instant, span } from '../words.ts'
import { ActButton, type TabProps } from './run.tsx'

/** The steps as a table: the twin of graph and timeline, with every attempt that is known. */
export function StepsTab({ page, act, isStale }: TabProps) {
  const { run, open } = page
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="scroller" tabIndex={0} aria-label="Steps">
      <table class="steps">
        <thead>
          <tr>
            <th>Status</th>
            <th>Step</th>
            <th>After</th>
            <th>Attempts</th>
            <th>Undo</th>
            <th>What it waits for, and errors</th>
          </tr>
        </thead>
        <tbody>
          {run.steps.map((step) => {
            const state = stateAt(run, step, run.readAt)
            const waits = open.find((each) => each.step === step.name)
            return (
              <tr key={step.name}>
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
                  {waits && <p>{waits.sentence}</p>}
                  {!waits && step.skipped && <p>Skipped: {step.skipped}.</p>}
                  {step.error && <p class="s-failed">{step.error}</p>}
                  {step.undo?.error && <p class="s-undoing">Undo: {step.undo.error}</p>}
                  {step.items && <Items step={step} />}
                  {step.childId && <Link href={`/runs/${step.childId}`}>Its run</Link>}
                  {waits?.actions.map((action) => (
                    <ActButton key={action.verb} action={action} act={act} isMain={false} isOff={isStale} />
                  ))}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
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
  return step.compensate === 'never' ? 'none' : 'has one'
}

/** A square for each item that was read, the failed first. */
function Items({ step: { items } }: { readonly step: ViewStep }) {
  if (items === undefined) return null
  const failed = (items.statuses.failed ?? 0) + (items.statuses.compensation_failed ?? 0)
  const isFailed = (status: string) => status === 'failed' || status === 'compensation_failed'
  const some = items.some.toSorted(
    (one, other) => Number(isFailed(other.status)) - Number(isFailed(one.status)),
  )
  return (
    <div class="items">
      <p>
        {figure(items.ended)} of {counted(items.total, 'item')}
        {failed > 0 && `, ${figure(failed)} failed`}
      </p>
      <svg
        class="heat"
        viewBox={`0 0 320 ${Math.ceil(some.length / 40) * 8}`}
        width={320}
        role="img"
        aria-label={`${items.ended} of ${items.total} items ended, ${failed} failed`}
      >
        {some.map((item, index) => (
          <rect
            key={item.key}
            class={`cell i-${item.status}`}
            x={(index % 40) * 8}
            y={Math.floor(index / 40) * 8}
            width={7}
            height={7}
          >
            <title>{`${item.key}: ${item.status}`}</title>
          </rect>
        ))}
      </svg>
    </div>
  )
}
