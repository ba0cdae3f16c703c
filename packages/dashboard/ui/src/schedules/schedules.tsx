import { useState } from 'preact/hooks'
import { Link, useSearch } from 'wouter'
import type { ListedSchedule, ScheduleAction, SchedulesPage } from '../../../src/api/schedules.ts'
import { Answer, Blank } from '../answer.tsx'
import { Glyph, Status } from '../glyph.tsx'
import { Head } from '../head.tsx'
import { Icon } from '../icons.tsx'
import { Lines } from '../lines.tsx'
import { useLive } from '../live.ts'
import { nameInPath } from '../path.ts'
import { zone } from '../settings.ts'
import { withTimes } from '../shell/times.ts'
import { useCell } from '../stored.ts'
import { age, counted, instant } from '../words.ts'
import { ActionButton, ScheduleDialog } from './act.tsx'
import { Calendar } from './calendar.tsx'
import { OneSchedule } from './one.tsx'
import { FIRED, InBoth, isLate, whenOf } from './timing.tsx'
import { pageZone } from './zoned.ts'

/** Schedules: all of them, or one. */
export function Schedules({ name }: { readonly name: string | undefined }) {
  useCell(zone)
  return name === undefined ? <List /> : <OneSchedule name={nameInPath()} />
}

/** Its page is the query of its address, as the server takes it. */
function List() {
  useSearch()
  // Here too, not what the router has decoded.
  const search = location.search.slice(1)
  const page = useLive<SchedulesPage>(`schedules${search && `?${search}`}`)
  return <Answer of={page}>{(answer: SchedulesPage) => <Page page={answer} search={search} />}</Answer>
}

function Page({ page, search }: { readonly page: SchedulesPage; readonly search: string }) {
  const [asked, ask] = useState<{ readonly name: string; readonly action: ScheduleAction }>()
  const { schedules, findings, readAt } = page
  const query = new URLSearchParams(search)
  const isPaused = query.get('paused') === 'true'
  return (
    <>
      <Head
        title="Schedules"
        aside={
          <nav class="views" aria-label="Views">
            <Link href="/schedules" aria-current={search === '' ? 'true' : undefined}>
              All
            </Link>
            <Link href="/schedules?paused=true" aria-current={isPaused ? 'true' : undefined}>
              Paused
            </Link>
          </nav>
        }
      >
        Times are of {pageZone()}, and beneath them of the schedule’s own zone where that differs.
      </Head>
      {findings.map((finding) => (
        <p key={finding} class="line s-failed">
          <Glyph state="scheduled" />
          <span>{withTimes(finding, readAt)}</span>
        </p>
      ))}
      {schedules.length === 0 ? (
        <None isFirst={search === ''} />
      ) : (
        <>
          <Calendar page={page} />
          <Table schedules={schedules} now={readAt} ask={(name, action) => ask({ name, action })} />
        </>
      )}
      <Pager page={page} query={query} />
      {asked && <ScheduleDialog key={asked.name} {...asked} onClose={() => ask(undefined)} />}
    </>
  )
}

function None({ isFirst }: { readonly isFirst: boolean }) {
  return isFirst ? (
    <Blank state="pending" title="There are no schedules">
      <p>Declare one with the option schedules of createEngine(), or put one with engine.schedules.put().</p>
    </Blank>
  ) : (
    <Blank state="pending" title="No schedule matches">
      <p>
        <Link class="run-link" href="/schedules">
          Show all schedules
        </Link>
      </p>
    </Blank>
  )
}

/** By name: each page begins where the other ended. */
function Pager({ page, query }: { readonly page: SchedulesPage; readonly query: URLSearchParams }) {
  const next = new URLSearchParams(query)
  const first = new URLSearchParams(query)
  first.delete('after')
  const last = page.schedules.at(-1)
  if (last !== undefined) next.set('after', last.name)
  if (!page.more && !query.has('after')) return null
  return (
    <nav class="pager" aria-label="Pages">
      {query.has('after') && (
        <Link class="button" href={`/schedules?${first}`}>
          First
        </Link>
      )}
      {page.more && (
        <Link class="button" href={`/schedules?${next}`}>
          Next
          <Icon name="right" />
        </Link>
      )}
    </nav>
  )
}

interface TableProps {
  readonly schedules: readonly ListedSchedule[]
  readonly now: number
  readonly ask: (name: string, action: ScheduleAction) => void
}

function Table({ schedules, now, ask }: TableProps) {
  return (
    <Lines
      caption={`${counted(schedules.length, 'schedule')}, by name`}
      columns={['Schedule', 'Starts', 'When', 'Next', 'Newest firing']}
      last="Actions"
    >
      {schedules.map((schedule) => (
        <Row key={schedule.name} schedule={schedule} now={now} ask={ask} />
      ))}
    </Lines>
  )
}

function Row({ schedule, now, ask }: Omit<TableProps, 'schedules'> & { readonly schedule: ListedSchedule }) {
  const { name, workflow, version, timeZone, declared, status } = schedule
  const act = (action: ScheduleAction) => (
    <ActionButton action={action} act={() => ask(name, action)} about={name} />
  )
  return (
    <tr>
      <td class="wrap">
        <Link class="run-link" href={`/schedules/${encodeURIComponent(name)}`}>
          {name}
        </Link>{' '}
        {declared && (
          <span class="weak" title="Declared in code: its times and its input change there.">
            in code
          </span>
        )}
      </td>
      <td class="wrap" data-label="Starts">
        {workflow} {version !== undefined && <span class="weak">v{version}</span>}
      </td>
      <td>
        <code>{whenOf(schedule)}</code> <span class="weak">{timeZone}</span>
      </td>
      <td class="wrap" data-label="Next">
        <Next schedule={schedule} now={now} />
      </td>
      <td data-label="Newest firing">
        <Newest schedule={schedule} now={now} />
      </td>
      <td class="last">
        {act('fire')} {act(status === 'paused' ? 'resume' : 'pause')}
      </td>
    </tr>
  )
}

function Next({ schedule, now }: { readonly schedule: ListedSchedule; readonly now: number }) {
  const { status, nextAt, pausedAt, pauseReason } = schedule
  if (status === 'paused') {
    return (
      <>
        <Status status="paused" />{' '}
        <span class="weak">
          since {instant(pausedAt!, now)}
          {pauseReason && `: ${pauseReason}`}
        </span>
      </>
    )
  }
  if (nextAt === undefined) return <span class="weak">It has ended</span>
  return (
    <>
      <InBoth at={nextAt} schedule={schedule} now={now} />{' '}
      {isLate(schedule, now) ? (
        <span class="loud s-failed">late by {age(now - nextAt)}</span>
      ) : (
        <span class="weak">in {age(nextAt - now)}</span>
      )}
    </>
  )
}

function Newest({ schedule, now }: { readonly schedule: ListedSchedule; readonly now: number }) {
  const { newest } = schedule
  if (newest === undefined) return <span class="weak">None yet</span>
  const [state, word] = FIRED[newest.status]
  const shown = (
    <>
      <Glyph state={state} /> {word} {instant(newest.at, now)}
    </>
  )
  return newest.runId === undefined ? (
    <span title={newest.reason}>{shown}</span>
  ) : (
    <Link class="run-link" href={`/runs/${newest.runId}`}>
      {shown}
    </Link>
  )
}
