import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { Firing, ScheduleAction, SchedulePage } from '../../../src/api/schedules.ts'
import type { RunLink } from '../../../src/api.ts'
import { Answer, Blank } from '../answer.tsx'
import { isNotFound } from '../api.ts'
import { Facts } from '../facts.tsx'
import { State, Status } from '../glyph.tsx'
import { Lines } from '../lines.tsx'
import { useLive } from '../live.ts'
import { withTimes } from '../shell/times.ts'
import { age, figure, fullInstant, instant, nameOf, shortId, span } from '../words.ts'
import { ActionButton, ScheduleDialog } from './act.tsx'
import { FIRED, whenOf, zoneOf } from './timing.tsx'
import { pageZone, wallOf } from './zoned.ts'

/** What a schedule does next, and what it has done. */
export function OneSchedule({ name }: { readonly name: string }) {
  const page = useLive<SchedulePage>(`schedules/${encodeURIComponent(name)}`)
  if (isNotFound(page.error)) {
    return (
      <Blank state="pending" title="There is no such schedule">
        <p class="anywhere">No schedule is called “{name}”.</p>
        <p>
          <Link class="run-link" href="/schedules">
            Show all schedules
          </Link>
        </p>
      </Blank>
    )
  }
  return <Answer of={page}>{(answer: SchedulePage) => <Page page={answer} />}</Answer>
}

function Page({ page }: { readonly page: SchedulePage }) {
  const [asked, ask] = useState<ScheduleAction>()
  const { schedule, sentence, readAt } = page
  const act = (action: ScheduleAction) => <ActionButton action={action} act={() => ask(action)} />
  return (
    <>
      <p class="back">
        <Link class="run-link" href="/schedules">
          All schedules
        </Link>
      </p>
      <div class="run-title">
        <h1>{schedule.name}</h1>
        {schedule.status === 'paused' && <Status status="paused" />}
        <div class="row run-actions">
          {act('fire')}
          {act(schedule.status === 'paused' ? 'resume' : 'pause')}
          {act('backfill')}
        </div>
      </div>
      <p class="run-why">{withTimes(sentence, readAt)}</p>
      {schedule.declared && (
        <p class="run-more">
          It is declared in code: its times and its input change there, at the next start. A pause stays.
        </p>
      )}
      <ScheduleFacts page={page} />
      <h2>Next times</h2>
      <Times page={page} />
      <h2>Firings</h2>
      <Firings page={page} />
      {asked && <ScheduleDialog name={schedule.name} action={asked} onClose={() => ask(undefined)} />}
    </>
  )
}

const OVERLAPS: Readonly<Record<string, string>> = {
  skip: 'a firing is skipped',
  queue: 'firings wait',
  'cancel-running': 'that run is cancelled',
  allow: 'another one starts',
}

const CATCHES_UP: Readonly<Record<string, string>> = {
  none: 'does not catch up',
  last: 'catches up with the last time',
  all: 'catches up with up to 100 times',
}

function ScheduleFacts({ page: { schedule, readAt } }: { readonly page: SchedulePage }) {
  const { workflow, version, timeZone, jitterMs, until, timeAs, overlap, catchUp } = schedule
  const facts: (readonly [string, ComponentChildren])[] = [
    ['Starts', `${workflow} ${version === undefined ? '(newest version)' : `v${version}`}`],
    ['When', <code key="when">{whenOf(schedule)}</code>],
    ...(timeZone === undefined ? [] : [['Zone', timeZone] as const]),
    ['While a run is live', OVERLAPS[overlap] ?? overlap],
    ['After an outage', CATCHES_UP[catchUp] ?? catchUp],
    ...(jitterMs === 0 ? [] : [['Jitter', `up to ${span(jitterMs)}`] as const]),
    ...(until === undefined ? [] : [['Until', instant(until, readAt)] as const]),
    ...(timeAs === undefined ? [] : [['Time in the input', timeAs] as const]),
    ['Firings', figure(schedule.firings)],
  ]
  return <Facts facts={facts} />
}

/** Of each time what clocks show there and here, with their distance to UTC: near a change of the clocks it tells which of two equal hours it is. */
function Times({ page: { schedule, times, readAt } }: { readonly page: SchedulePage }) {
  const zones = [...new Set([zoneOf(schedule), pageZone()])]
  if (times.length === 0) return <p class="weak">It fires no more.</p>
  return (
    <table class="lines times">
      <caption class="sr">The next times, by zone</caption>
      <thead>
        <tr>
          {zones.map((zone, index) => (
            <th key={zone} scope="col">
              {zone}
              {index > 0 && <span class="weak"> (this page)</span>}
            </th>
          ))}
          <th scope="col">{schedule.status === 'paused' ? 'If it is resumed' : 'Fires'}</th>
        </tr>
      </thead>
      <tbody>
        {times.map(({ at, firesAt }) => (
          <tr key={at}>
            {zones.map((zone) => (
              <td key={zone}>
                <Wall at={at} zone={zone} />
              </td>
            ))}
            <td class="weak" title={fullInstant(firesAt)}>
              {firesAt > readAt ? `in ${age(firesAt - readAt)}` : `late by ${age(readAt - firesAt)}`}
              {firesAt !== at && `, ${span(firesAt - at)} of it jitter`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Wall({ at, zone }: { readonly at: number; readonly zone: string }) {
  const { day, time, offset } = wallOf(at, zone)
  return (
    <time dateTime={new Date(at).toISOString()}>
      {day} {time} <span class="weak">{offset}</span>
    </time>
  )
}

const FIRST = 20

function Firings({ page }: { readonly page: SchedulePage }) {
  const [isAll, showAll] = useState(false)
  const { firings } = page
  const runs = new Map(page.runs.map((run) => [run.id, run]))
  if (firings.length === 0) return <p class="weak">It has not fired yet.</p>
  return (
    <>
      <Lines
        caption="Firings, the newest first"
        columns={['State', 'Time', 'Cause', 'Run, or why there is none']}
      >
        {firings.slice(0, isAll ? undefined : FIRST).map((firing) => (
          <One key={firing.sequence} firing={firing} page={page} run={runs.get(firing.runId ?? '')} />
        ))}
      </Lines>
      {!isAll && firings.length > FIRST && (
        <p>
          <button type="button" class="button" onClick={() => showAll(true)}>
            Show {figure(firings.length - FIRST)} more
          </button>
        </p>
      )}
    </>
  )
}

const CAUSES = { time: 'Its time', trigger: 'By hand', backfill: 'Backfill' } as const

function One({
  firing: { at, untilAt, status, cause, runId, reason },
  page: { schedule, readAt },
  run,
}: {
  readonly firing: Firing
  readonly page: SchedulePage
  readonly run: RunLink | undefined
}) {
  const [state, word] = FIRED[status]
  const zone = zoneOf(schedule)
  return (
    <tr>
      <td>
        <State state={state}>{word}</State>
      </td>
      <td title={`${instant(at, readAt)} in ${pageZone()}`}>
        <Wall at={at} zone={zone} />
        {untilAt !== undefined && untilAt > at && (
          <>
            {' to '}
            <Wall at={untilAt} zone={zone} />
          </>
        )}
      </td>
      <td class="weak">{CAUSES[cause]}</td>
      <td class="wrap">
        {runId !== undefined && (
          <span class="row">
            <Link class="run-link" href={`/runs/${runId}`}>
              {run === undefined ? <code>{shortId(runId)}</code> : nameOf(run)}
            </Link>
            {run && <Status status={run.status} />}
          </span>
        )}
        {reason && withTimes(reason, readAt)}
      </td>
    </tr>
  )
}
