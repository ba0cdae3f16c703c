import {
  type ComparedStep,
  compareRuns,
  partingText,
  type StepOutcome,
  type UnionNote,
  type ViewRun,
} from '@belay/graph-view'
import { useMemo, useState } from 'preact/hooks'
import { Link, useSearch } from 'wouter'
import type { RunPage } from '../../../src/api.ts'
import { Answer } from '../answer.tsx'
import { State, Status } from '../glyph.tsx'
import { Lines } from '../lines.tsx'
import { useRun } from '../run/use-run.ts'
import { useSettled } from '../run/use-settled.ts'
import { zone } from '../settings.ts'
import { withTimes } from '../shell/times.ts'
import { useCell } from '../stored.ts'
import { counted, figure, fullInstant, instant, nameOf, span } from '../words.ts'
import { AskForRuns } from './ask.tsx'
import { PairTimeline } from './pair-timeline.tsx'
import { UnionGraph } from './union-graph.tsx'

/** `/compare?a=…&b=…`: two runs, by any name of each. */
export function Compare() {
  const given = new URLSearchParams(useSearch())
  const [a, b] = [given.get('a') ?? '', given.get('b') ?? '']
  useCell(zone)
  return (
    <>
      <h1>Compare two runs</h1>
      {a === '' || b === '' ? <AskForRuns a={a} b={b} /> : <Both key={`${a} ${b}`} a={a} b={b} />}
    </>
  )
}

function Both({ a, b }: { readonly a: string; readonly b: string }) {
  const [one, other] = [useRun(a), useRun(b)]
  return (
    <Answer of={one}>
      {(first: RunPage) => (
        <Answer of={other}>{(second: RunPage) => <Compared a={first} b={second} />}</Answer>
      )}
    </Answer>
  )
}

function Compared({ a: first, b: second }: { readonly a: RunPage; readonly b: RunPage }) {
  const [a, b] = [useSettled(first.run), useSettled(second.run)]
  const steps = useMemo(() => compareRuns(a, b), [a, b])
  const label = `Graphs of ${nameOf(a)} and ${nameOf(b)}`
  return (
    <>
      <div class="compared">
        <One letter="A" page={first} />
        <One letter="B" page={second} />
      </div>
      <p class="run-why" aria-live="polite">
        {a.id === b.id ? 'A and B are the same run.' : partingText(steps)}
      </p>
      <OfOther a={a} b={b} />
      <h2>Graphs over each other</h2>
      <UnionGraph steps={steps} noteOf={noteOf} label={label} names={['A', 'B']} />
      <h2>From the begin of each</h2>
      <PairTimeline steps={steps} a={a} b={b} />
      <Steps steps={steps} />
    </>
  )
}

function One({ letter, page: { run, why } }: { readonly letter: string; readonly page: RunPage }) {
  return (
    <section aria-label={`Run ${letter}`}>
      <div class="row">
        <b class="letter">{letter}</b>
        <Link class="run-link" href={`/runs/${run.id}`}>
          {nameOf(run)}
        </Link>
        <Status status={run.status} />
      </div>
      <p>{withTimes(why, run.readAt)}</p>
      <p class="weak">
        {run.workflow} v{run.version}, started{' '}
        <time title={fullInstant(run.createdAt)}>{instant(run.createdAt, run.readAt)}</time>,{' '}
        {run.finishedAt === undefined ? 'for' : 'took'}{' '}
        {span((run.finishedAt ?? run.readAt) - Math.max(run.createdAt, run.startAt ?? 0))}
      </p>
    </section>
  )
}

/** What has to be known before anything else is compared. */
function OfOther({ a, b }: { readonly a: ViewRun; readonly b: ViewRun }) {
  if (a.workflow !== b.workflow) {
    return <p class="run-more">They are runs of different workflows: only steps of the same name meet.</p>
  }
  if (a.version === b.version) return null
  const [from, to] = [a.version, b.version].toSorted((one, other) => one - other)
  return (
    <p class="run-more">
      They have different versions:{' '}
      <Link class="run-link" href={`/versions/${encodeURIComponent(a.workflow)}?from=${from}&to=${to}`}>
        what changed from v{from} to v{to}
      </Link>
      .
    </p>
  )
}

function noteOf({ a, b, differs }: ComparedStep): UnionNote {
  const mark = a === undefined ? 'added' : b === undefined ? 'removed' : undefined
  return {
    mark: mark ?? (differs.length > 0 ? 'changed' : undefined),
    lines: [lineOf('A', a), lineOf('B', b)],
  }
}

function lineOf(letter: string, outcome: StepOutcome | undefined): UnionNote['lines'][number] {
  if (outcome === undefined) return { text: `${letter} has no such step` }
  return { state: outcome.shown, text: `${letter} ${outcome.shown}${triesOf(outcome)}` }
}

function triesOf({ attempts }: StepOutcome): string {
  return attempts > 1 ? `, ${counted(attempts, 'attempt')}` : ''
}

const ROWS = 200

/** All steps, those that differ first. */
function Steps({ steps }: { readonly steps: readonly ComparedStep[] }) {
  const [shown, show] = useState(ROWS)
  const sorted = useMemo(
    () => steps.toSorted((one, other) => Number(other.differs.length > 0) - Number(one.differs.length > 0)),
    [steps],
  )
  return (
    <>
      <h2>Steps, those that differ first</h2>
      <Lines
        caption="Steps of both runs, those that differ first"
        columns={['Step', 'Differs in', 'A', 'B', 'B took']}
        class="compared-steps"
      >
        {sorted.slice(0, shown).map(({ name, a, b, differs }) => (
          <tr key={name}>
            <td class="wrap">
              <b>{name}</b>
            </td>
            <td class={differs.length > 0 ? '' : 'weak'}>{differs.join(', ') || 'nothing'}</td>
            <td class="wrap" data-label="A">
              <Outcome of={a} />
            </td>
            <td class="wrap" data-label="B">
              <Outcome of={b} />
            </td>
            <td class="weak" data-label="B took">
              {longerOf(a?.tookMs, b?.tookMs)}
            </td>
          </tr>
        ))}
      </Lines>
      {steps.length > shown && (
        <button type="button" class="button" onClick={() => show(shown + ROWS)}>
          Show more: {figure(steps.length - shown)} are left
        </button>
      )}
    </>
  )
}

function Outcome({ of }: { readonly of: StepOutcome | undefined }) {
  if (of === undefined) return <span class="weak">has no such step</span>
  return (
    <span class="outcome-of">
      <State state={of.shown}>{of.shown}</State> {of.tookMs !== undefined && span(of.tookMs)}
      {triesOf(of)}
      {of.skipped !== undefined && <span class="weak"> {of.skipped}</span>}
    </span>
  )
}

function longerOf(a: number | undefined, b: number | undefined): string {
  if (a === undefined || b === undefined) return ''
  if (a === b) return 'as long'
  return `${span(Math.abs(b - a))} ${b > a ? 'longer' : 'less'}`
}
