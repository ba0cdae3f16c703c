import { span } from '@belay/graph-view'
import type { ScheduledTime, ScheduleFiring, ScheduleSnapshot } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { shortIds } from '../runs/names.ts'
import { fieldColumns } from '../terminal/field-columns.ts'
import type { Column, Output } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'
import { ago, moment } from '../terminal/time.ts'
import { dayAndTime } from './zoned.ts'

const FIELDS = fieldColumns<ScheduleSnapshot>([
  'name',
  'workflow',
  'version',
  'status',
  'cron',
  'timeZone',
  'everyMs',
  'nextAt',
  'pausedAt',
  'pauseReason',
  'tags',
  'overlap',
  'catchUp',
  'jitterMs',
  'timeAs',
  'until',
  'declared',
  'firings',
  'createdAt',
  'updatedAt',
])

const STATUSES = { active: 'ready', paused: 'paused', ended: 'completed' } as const

/** What a list of schedules shows, and what `--json` gives: all but the input, which may be private. */
export function scheduleColumns(out: Output, now: Date) {
  const shown: readonly Column<ScheduleSnapshot>[] = [
    {
      field: 'status',
      shown: ({ status }) => out.status(STATUSES[status], status),
      value: ({ status }) => status,
    },
    { field: 'name', shown: ({ name }) => safe(name), value: ({ name }) => name },
    { field: 'workflow', shown: ({ workflow }) => safe(workflow), value: ({ workflow }) => workflow },
    { field: 'times', shown: (schedule) => safe(timesOf(schedule)), value: timesOf },
    {
      field: 'nextAt',
      title: 'NEXT',
      shown: ({ nextAt, pauseReason }) =>
        nextAt === undefined ? safe(pauseReason ?? '') : roughly(nextAt, now),
      value: ({ nextAt }) => nextAt,
    },
  ]
  const others = FIELDS.filter(({ field }) => !shown.some((column) => column.field === field))
  return { shown: [...shown, ...others], fields: FIELDS }
}

/** `in 7 h`: the last column has little room. `schedules preview` says it exactly. */
function roughly(at: Date, now: Date): string {
  return ago(at, now).replace(/^(in \d+ [hd]) .*$/, '$1')
}

function timesOf({ cron, timeZone, everyMs }: ScheduleSnapshot): string {
  return cron === undefined ? `every ${span(everyMs!)}` : `${cron}  ${timeZone}`
}

/** The next times, each in the schedule’s zone and in UTC. */
export function showTimes(
  out: Output,
  times: readonly ScheduledTime[],
  { timeZone = 'UTC', now }: { readonly timeZone?: string | undefined; readonly now: Date },
): undefined {
  const columns = fieldColumns<ScheduledTime>(['scheduledAt', 'firesAt'])
  if (out.json) return void out.document({ times: out.objects(columns, times) })
  if (times.length === 0) return void out.note('It fires no more.')
  if (!out.isTerminal || out.fields !== undefined) {
    return void out.table(
      columns.map(({ hidden: _, ...column }) => column),
      times,
    )
  }
  for (const { scheduledAt, firesAt } of times) {
    const [utc, local] = [dayAndTime(scheduledAt, 'UTC'), dayAndTime(scheduledAt, timeZone)]
    const beside = utc.day === local.day ? utc.time : `${utc.day} ${utc.time}`
    const parts = timeZone === 'UTC' ? [] : [`${beside} UTC`]
    out.line([`${local.day} ${local.time} ${timeZone}`, ...parts, ago(firesAt, now)].join('   '))
  }
}

const FIRINGS = fieldColumns<ScheduleFiring>([
  'sequence',
  'scheduledAt',
  'untilAt',
  'decidedAt',
  'cause',
  'status',
  'runId',
  'reason',
])

const FIRED = {
  started: 'completed',
  queued: 'ready',
  skipped: 'skipped',
  missed: 'cancelled',
  failed: 'failed',
} as const

/** Why a firing failed is the text of an error, which may quote the input. */
function told(firing: ScheduleFiring, quote: Call['quote']): ScheduleFiring {
  const { status, reason } = firing
  if (quote === undefined || status !== 'failed' || reason === undefined) return firing
  return { ...firing, reason: quote({ what: 'refusal', reason }) }
}

interface Showing {
  readonly now: Date
  readonly quote: Call['quote']
}

export function showFirings(
  out: Output,
  found: readonly ScheduleFiring[],
  { now, quote }: Showing,
): undefined {
  const firings = found.map((firing) => told(firing, quote))
  if (out.json) return void out.document({ firings: out.objects(FIRINGS, firings) })
  if (firings.length === 0) return void out.note('It has not fired yet.')
  const short = shortIds(firings.flatMap(({ runId }) => runId ?? []))
  const shown: readonly Column<ScheduleFiring>[] = [
    {
      field: 'status',
      shown: ({ status }) => out.status(FIRED[status], status),
      value: ({ status }) => status,
    },
    {
      field: 'scheduledAt',
      title: 'TIME',
      shown: ({ scheduledAt }) => moment(scheduledAt, now, out),
      value: ({ scheduledAt }) => scheduledAt,
    },
    {
      field: 'runId',
      title: 'RUN',
      shown: ({ runId }) => (runId === undefined ? '' : short(runId)),
      value: ({ runId }) => runId,
    },
    { field: 'cause', shown: ({ cause }) => cause, value: ({ cause }) => cause },
    { field: 'reason', shown: ({ reason }) => safe(reason ?? ''), value: ({ reason }) => reason },
  ]
  const others = FIRINGS.filter(({ field }) => !shown.some((column) => column.field === field))
  out.table([...shown, ...others], firings)
}

/** 1 if it neither started a run nor will. */
export function showTriggered(
  out: Output,
  found: ScheduleFiring,
  { name, quote }: { readonly name: string; readonly quote: Call['quote'] },
): ExitStatus {
  const firing = told(found, quote)
  const { status, runId, reason } = firing
  if (out.json) out.document(out.objects(FIRINGS, [firing])[0])
  else {
    const why = reason === undefined ? '' : `: ${reason}`
    out.line(safe(`${name}: ${status}${runId === undefined ? why : ` run ${runId}`}`))
    if (runId !== undefined) out.note(`Follow: belay watch ${runId}`)
  }
  return status === 'started' || status === 'queued' ? 0 : 1
}
