import { actionText, type ViewRun } from '@belay/graph-view'
import { useMemo, useState } from 'preact/hooks'
import { fullInstant, instant as shown } from '../words.ts'
import { GraphTab } from './graph-tab.tsx'
import type { TabProps } from './tab.tsx'
import { TimelineTab } from './timeline-tab.tsx'

/** What operators did and what arrived; and a slider that rewinds graph and timeline to any instant. */
export function HistoryTab(props: TabProps) {
  const { run, history } = props.page
  const from = run.startAt ?? run.createdAt
  const to = run.finishedAt ?? run.readAt
  // Until an instant is chosen, and again at the end, it follows a live run.
  const [chosen, choose] = useState<number>()
  const at = chosen ?? to
  const setAt = (instant: number) => choose(instant < to ? instant : undefined)
  const stops = useMemo(() => stopsOf(run.steps, from, to), [run.steps, from, to])
  const step = (forward: boolean) => {
    const next = forward ? stops.find((each) => each > at) : stops.findLast((each) => each < at)
    setAt(next ?? (forward ? to : from))
  }
  // A millisecond at a time, the slider's own step, would lead nowhere.
  const onKeyDown = (event: KeyboardEvent) => {
    const forward = { ArrowLeft: false, ArrowDown: false, ArrowRight: true, ArrowUp: true }[event.key]
    if (forward === undefined) return
    event.preventDefault()
    step(forward)
  }
  return (
    <section class="history">
      <div class="bar">
        <button type="button" class="button" onClick={() => step(false)} aria-label="To the change before">
          ‹
        </button>
        <label class="grow">
          <span class="sr">The instant that is shown</span>
          <input
            type="range"
            min={from}
            max={to}
            value={at}
            aria-valuetext={fullInstant(at)}
            onInput={(event) => setAt(Number(event.currentTarget.value))}
            onKeyDown={onKeyDown}
          />
        </label>
        <button type="button" class="button" onClick={() => step(true)} aria-label="To the next change">
          ›
        </button>
        <time>{shown(at, to)}</time>
      </div>
      <GraphTab {...props} at={at} />
      <TimelineTab {...props} at={at} />
      <h2>Actions and signals</h2>
      {history.length === 0 && <p class="weak">Nobody has acted on this run, and it received nothing.</p>}
      <ol class="entries">
        {history.map((entry) => (
          <li key={`${entry.at}${entry.action}`}>
            <time title={fullInstant(entry.at)}>{shown(entry.at, to)}</time>
            <p>
              <strong>{actionText(entry.action)}</strong> {entry.step} {entry.by && `by ${entry.by}`}
              {entry.reason && <q>{entry.reason}</q>}
            </p>
            <p class="weak">{entry.change}</p>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** The instants at which something began or ended, in their order. */
function stopsOf(steps: ViewRun['steps'], from: number, to: number): readonly number[] {
  const all = steps.flatMap(({ known }) => known.flatMap(({ startAt, endAt }) => [startAt, endAt ?? to]))
  return [...new Set(all)].filter((each) => each >= from && each <= to).toSorted((one, other) => one - other)
}
