import type { FiringRecord, JsonText, ScheduleRecord, ScheduleSpec } from '@belay/workflow/adapter'

/** An instant as epoch milliseconds. */
function inMs(column: string): string {
  return `round((extract(epoch from ${column}) * 1000)::numeric)::float8`
}

/** A schedule's columns, of the row `s`. */
export const scheduleColumns = `s.name, s.workflow, s.spec::text as spec, s.input::text as input, s.revision, s.firings, s.pause_reason,
  ${inMs('s.paused_at')} as paused_at, ${inMs('s.next_at')} as next_at, ${inMs('s.due_at')} as due_at,
  ${inMs('s.created_at')} as created_at, ${inMs('s.updated_at')} as updated_at`

/** A firing's columns, of the row `f`. */
export const firingColumns = `f.sequence, f.cause, f.status, f.run_id, f.reason, ${inMs('f.scheduled_at')} as scheduled_at,
  ${inMs('f.until_at')} as until_at, ${inMs('f.decided_at')} as decided_at`

export interface ScheduleRow {
  readonly name: string
  readonly workflow: string
  readonly spec: string
  readonly input: JsonText
  readonly revision: number
  readonly firings: number
  readonly pause_reason: string | null
  readonly paused_at: number | null
  readonly next_at: number | null
  readonly due_at: number | null
  readonly created_at: number
  readonly updated_at: number
}

export interface FiringRow {
  readonly sequence: number
  readonly cause: FiringRecord['cause']
  readonly status: FiringRecord['status']
  readonly run_id: string | null
  readonly reason: string | null
  readonly scheduled_at: number
  readonly until_at: number | null
  readonly decided_at: number
}

export function decodeSchedule(row: ScheduleRow): ScheduleRecord {
  return {
    name: row.name,
    workflow: row.workflow,
    spec: soundSpec(JSON.parse(row.spec)),
    input: row.input,
    pausedAt: row.paused_at,
    pauseReason: row.pause_reason,
    nextAt: finite(row.next_at),
    dueAt: finite(row.due_at),
    revision: row.revision,
    firings: row.firings,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/**
 * A spec that a hand or a bad restore has damaged is read as one whose times cannot be computed: its firings fail one by one and say so, instead of
 * ending every look at schedules.
 */
function soundSpec(stored: unknown): ScheduleSpec {
  const given = isObject(stored) ? (stored as Partial<ScheduleSpec>) : {}
  return {
    ...EMPTY,
    ...given,
    timing: isObject(given.timing) ? given.timing : EMPTY.timing,
    tags: Array.isArray(given.tags) ? given.tags : EMPTY.tags,
  }
}

const EMPTY: ScheduleSpec = {
  timing: { everyMs: 0, anchorAt: 0 },
  version: null,
  overlap: 'skip',
  catchUp: 'last',
  jitterMs: 0,
  until: null,
  tags: [],
  timeAs: null,
  declared: false,
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** An infinite time is a damaged one, as in `read_upcoming`: it never comes, or it passed long ago. */
function finite(ms: number | null): number | null {
  if (ms === null || Number.isFinite(ms)) return ms
  return ms > 0 ? null : 0
}

export function decodeFiring(row: FiringRow): FiringRecord {
  return {
    sequence: row.sequence,
    scheduledAt: row.scheduled_at,
    untilAt: row.until_at,
    decidedAt: row.decided_at,
    cause: row.cause,
    status: row.status,
    runId: row.run_id,
    reason: row.reason,
  }
}
