import {
  type ChangedRun,
  type ChangedSchedules,
  FIRINGS_KEPT,
  type FiringRecord,
  type FoundSchedule,
  type NewRun,
  refusedStart,
  type ScheduleChange,
  type ScheduleRecord,
  type SchedulesFilter,
  type SchedulesToChange,
  type StartedRun,
} from '@belay/workflow/adapter'
import { refusalOf } from './payload.ts'
import { runRecord } from './read.ts'
import type { Rows } from './rows.ts'
import type { ScheduleRow } from './schedule-row.ts'
import { startRuns, startRunsWithin } from './start.ts'
import { cancelRuns } from './stop.ts'
import type { MemoryTransaction } from './transaction.ts'

/** The name under which a change locks its schedule until its transaction ends. */
export function nameOfSchedule(name: string): string {
  return `schedule ${name}`
}

/** Decides about all schedules before it writes the first: if one throws, nothing is written. */
export function changeSchedules<Answer>(
  rows: Rows,
  request: SchedulesToChange<Answer>,
  tx?: MemoryTransaction,
): ChangedSchedules<Answer> {
  tx?.assertOpen()
  const names = [...new Set(request.names)].filter(
    (name) =>
      request.skipLocked !== true ||
      (rowOf(rows, name, tx) !== undefined && rows.holderOf([nameOfSchedule(name)], tx) === undefined),
  )
  const decided = names.map((name) => ({ name, ...request.decide(toFound(rows, name, tx)) }))
  for (const { change } of decided) assertStorable(change)
  const started: StartedRun[] = []
  const cancelled: ChangedRun[] = []
  for (const { name, change } of decided) {
    tx?.hold([nameOfSchedule(name)])
    if (change === null) continue
    const own = startAll(rows, change.starts, tx)
    started.push(...own)
    if (tx === undefined) cancelled.push(...cancelAll(rows, change.cancels))
    else tx.cancels.push(...change.cancels)
    write(rows, { name, change, started: own }, tx)
  }
  return { answers: decided.map(({ name, answer }) => ({ name, answer })), started, cancelled }
}

/** Makes a transaction's changes when it commits. */
export function applySchedules(rows: Rows, tx: MemoryTransaction): void {
  for (const [name, row] of tx.schedules) {
    if (row === null) rows.schedules.delete(name)
    else rows.schedules.set(name, row)
  }
  cancelAll(rows, tx.cancels)
}

export function readSchedules(
  rows: Rows,
  filter: SchedulesFilter,
): { readonly schedules: readonly ScheduleRecord[]; readonly now: number } {
  const { names, workflow, paused, declared, due, failing, after, limit } = filter
  const found = [...rows.schedules.values()]
    .filter(({ firings }) => failing !== true || firings.at(-1)?.status === 'failed')
    .map(({ schedule }) => schedule)
    .filter(
      ({ name, pausedAt, dueAt, spec, ...schedule }) =>
        (names === undefined || names.includes(name)) &&
        (workflow === undefined || schedule.workflow === workflow) &&
        (paused === undefined || (pausedAt !== null) === paused) &&
        (declared === undefined || spec.declared === declared) &&
        (due !== true || (dueAt !== null && dueAt <= rows.now)) &&
        (after === undefined || isBefore(after, name)),
    )
    .sort((one, other) =>
      due === true && one.dueAt !== other.dueAt ? one.dueAt! - other.dueAt! : byName(one, other),
    )
  return { schedules: structuredClone(found.slice(0, limit)), now: rows.now }
}

export function readFirings(
  rows: Rows,
  request: {
    readonly name: string
    readonly queued?: boolean | undefined
    readonly before?: number | undefined
    readonly limit: number
  },
): readonly FiringRecord[] {
  const { name, queued, before = Number.POSITIVE_INFINITY, limit } = request
  const firings = (rows.schedules.get(name)?.firings ?? [])
    .map(({ isOpen: _, ...firing }) => firing)
    .filter(({ sequence, status }) => sequence < before && (queued !== true || status === 'queued'))
  return (queued === true ? firings : firings.reverse()).slice(0, limit)
}

/** When the first schedule is due; `Infinity` for never. */
export function nextSchedule(rows: Rows): number {
  let first = Number.POSITIVE_INFINITY
  for (const { schedule } of rows.schedules.values())
    if (schedule.dueAt !== null && schedule.dueAt < first) first = schedule.dueAt
  return first
}

function toFound(rows: Rows, name: string, tx: MemoryTransaction | undefined): FoundSchedule {
  const row = rowOf(rows, name, tx)
  const open = (row?.firings ?? []).flatMap(({ isOpen, ...firing }) => {
    if (!isOpen) return []
    const run = firing.runId === null ? undefined : rows.runs.get(firing.runId)
    const isPending = firing.runId !== null && tx?.runs.has(firing.runId)
    const runStatus =
      run === undefined ? (isPending ? ('running' as const) : null) : runRecord(rows, run).status
    return [{ ...firing, runStatus }]
  })
  return structuredClone({ name, schedule: row?.schedule ?? null, open, now: rows.now })
}

function rowOf(rows: Rows, name: string, tx: MemoryTransaction | undefined): ScheduleRow | undefined {
  const own = tx?.schedules.get(name)
  return own === null ? undefined : (own ?? rows.schedules.get(name))
}

function assertStorable(change: ScheduleChange | null): void {
  const refusal = change?.schedule == null ? undefined : refusalOf(change.schedule.input)
  if (refusal !== undefined) throw refusedStart(change!.starts, refusal)
}

function startAll(
  rows: Rows,
  runs: readonly NewRun[],
  tx: MemoryTransaction | undefined,
): readonly StartedRun[] {
  if (runs.length === 0) return []
  return tx === undefined ? startRuns(rows, runs) : startRunsWithin(rows, runs, tx)
}

const REPLACED = { type: 'cancelled', reason: 'The next firing of its schedule took its place.' }

function cancelAll(rows: Rows, runIds: readonly string[]): readonly ChangedRun[] {
  if (runIds.length === 0) return []
  const entry = { action: 'cancel', actor: null, reason: REPLACED.reason, change: '{"compensate":true}' }
  return cancelRuns(rows, { runIds, cause: JSON.stringify(REPLACED), entry })
}

function write(
  rows: Rows,
  {
    name,
    change,
    started,
  }: { readonly name: string; readonly change: ScheduleChange; readonly started: readonly StartedRun[] },
  tx: MemoryTransaction | undefined,
): void {
  const before = rowOf(rows, name, tx)
  const row = change.schedule === null ? null : nextRow(rows, { before, change, started })
  if (tx !== undefined) tx.schedules.set(name, row)
  else if (row === null) rows.schedules.delete(name)
  else rows.schedules.set(name, row)
}

function nextRow(
  rows: Rows,
  {
    before,
    change,
    started,
  }: {
    readonly before: ScheduleRow | undefined
    readonly change: ScheduleChange
    readonly started: readonly StartedRun[]
  },
): ScheduleRow {
  const schedule = structuredClone(change.schedule!)
  const bySequence = new Map((before?.firings ?? []).map((firing) => [firing.sequence, firing]))
  for (const firing of change.firings)
    bySequence.set(firing.sequence, withHolder(firing, change.starts, started))
  const firings = [...bySequence.values()]
    .filter(({ isOpen, sequence }) => isOpen || sequence > schedule.firings - FIRINGS_KEPT)
    .sort((one, other) => one.sequence - other.sequence)
  const stored = before?.schedule
  const updatedAt = Math.max(stored?.updatedAt ?? rows.now, rows.now)
  const times = { createdAt: stored?.createdAt ?? rows.now, updatedAt }
  return { schedule: { ...schedule, ...times, revision: (stored?.revision ?? 0) + 1 }, firings }
}

/** A key that is taken belongs to the run of that firing. */
function withHolder<Firing extends FiringRecord>(
  firing: Firing,
  starts: readonly NewRun[],
  started: readonly StartedRun[],
): Firing {
  const place = starts.findIndex(({ runId }) => runId === firing.runId)
  return place === -1 ? { ...firing } : { ...firing, runId: started[place]!.runId }
}

function byName(one: ScheduleRecord, other: ScheduleRecord): number {
  return one.name === other.name ? 0 : isBefore(one.name, other.name) ? -1 : 1
}

function isBefore(one: string, other: string): boolean {
  return one < other
}
