import {
  type Diagnosis,
  type EndedRuns,
  type EndedRunsRequest,
  type EndStatus,
  isItem,
  isTerminal,
  type LiveRuns,
  type OverdueSteps,
  type ReadyCount,
  type StrandedStep,
  type UnknownLeases,
} from '@belay/workflow/adapter'
import { isClaimable, isLeased, leasedSteps, readyAt } from './lease.ts'
import { waiterName } from './limit-rows.ts'
import { hasAll } from './read.ts'
import type { QueuedStep } from './ready-queue.ts'
import { recentRuns } from './recent-runs.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { nameOf, rowOf, rowsOf } from './run-rows.ts'
import { listWorkers } from './workers.ts'

// Small, so that tests reach the limit.
const LOOKED_AT_MAX = 1_000
const OVERDUE_MAX = 1_000
const STRANDED_MAX = 100
const RUN_IDS_MAX = 5

export function findEnded(rows: Rows, request: EndedRunsRequest): EndedRuns {
  const { statuses, workflow, tags, keyed, after, limit } = request
  const looked = [...rows.runs.values()]
    .filter((run) => endedBefore(run, request.finishedBefore) && (after === null || cursorOf(run) > after))
    .sort((one, other) => (cursorOf(one) < cursorOf(other) ? -1 : 1))
  const part = looked.slice(0, LOOKED_AT_MAX)
  const wanted = part.filter(
    (run) =>
      statuses.includes(run.status as EndStatus) &&
      (workflow === undefined || workflow.includes(run.workflow)) &&
      (tags === undefined || hasAll(run, tags)) &&
      (keyed !== true || run.key !== null),
  )
  const taken = wanted.slice(0, limit)
  const overflows = wanted.length > limit
  const last = (overflows ? taken : part).at(-1)
  return {
    runIds: taken.map(({ runId }) => runId),
    cursor: last === undefined ? after : cursorOf(last),
    more: overflows || looked.length > part.length,
  }
}

export function prune(
  rows: Rows,
  request: { runIds: readonly string[]; finishedBefore: number },
): readonly string[] {
  const kept = keptEnds(rows)
  const pruned = ended(rows, request).filter((run) => !kept.has(run.runId) && !isSought(rows, run, kept))
  for (const run of pruned) rows.removeRun(run)
  return pruned.map(({ runId }) => runId)
}

export function releaseKeys(
  rows: Rows,
  request: { runIds: readonly string[]; finishedBefore: number },
): readonly string[] {
  const kept = keptEnds(rows)
  const keyed = ended(rows, request).filter((run) => run.key !== null && !isSought(rows, run, kept))
  for (const run of keyed) rows.releaseKey(run)
  return keyed.map(({ runId }) => runId)
}

/** The runs from whose end something has to follow yet. */
function keptEnds(rows: Rows): ReadonlySet<string> {
  return new Set([...rows.runEnds.values()].map(({ runId }) => runId))
}

/**
 * Whether somebody may still look for the run by its key, and start it again without it. A child stays as long as its parent, which may undo it. A
 * run that was started for the end of another stays until that end is forgotten.
 */
function isSought(rows: Rows, { parent }: RunRow, kept: ReadonlySet<string>): boolean {
  if (parent === null) return false
  return parent.step === null ? kept.has(parent.runId) : rows.runs.has(parent.runId)
}

export function diagnose(
  rows: Rows,
  { overdueMs, recentMs }: { overdueMs: number; recentMs: number },
): Diagnosis {
  const live = rows.liveRunsByAge()
  return {
    now: rows.now,
    store: { adapter: 'memory' },
    workers: listWorkers(rows),
    liveRuns: groups(rows, live),
    moreLiveRuns: false,
    overdueSteps: overdueSteps(rows, rows.now - overdueMs),
    strandedSteps: strandedSteps(rows, live, rows.now - overdueMs).slice(0, STRANDED_MAX),
    unknownLeases: unknownLeases(rows),
    recentRuns: recentRuns(rows, rows.now - recentMs),
  }
}

function unknownLeases(rows: Rows): readonly UnknownLeases[] {
  return [...rows.workers.values()]
    .sort((one, other) => (one.workerId < other.workerId ? -1 : 1))
    .flatMap(({ workerId, name, status, known, renewedAt, leaseExpiresAt }) => {
      if (status === 'dead' || known === null || leaseExpiresAt <= renewedAt) return []
      const heldBefore = renewedAt - 2 * (leaseExpiresAt - renewedAt)
      const held = leasedSteps(rows, workerId).filter(
        ({ step }) => (step.undo ?? step).startedAt! < heldBefore,
      ).length
      return held > known ? [{ workerId, name, held, known }] : []
    })
}

function ended(
  rows: Rows,
  request: { runIds: readonly string[]; finishedBefore: number },
): readonly RunRow[] {
  return [...new Set(request.runIds)].flatMap((runId) => {
    const run = rows.runs.get(runId)
    return run !== undefined && endedBefore(run, request.finishedBefore) ? [run] : []
  })
}

function endedBefore({ status, finishedAt }: RunRow, instant: number): boolean {
  return isTerminal(status) && finishedAt !== null && finishedAt < instant
}

/** The text sorts like the end times it stands for, then by run. */
function cursorOf({ finishedAt, runId }: RunRow): string {
  return `${String(finishedAt).padStart(20, '0')}/${runId}`
}

function groups(rows: Rows, live: readonly RunRow[]): readonly LiveRuns[] {
  const byName = new Map<string, LiveRuns>()
  for (const { runId, definition, workflow, status, createdAt } of live) {
    const { id: definitionId, version } = definition.saved
    const name = `${definitionId}/${status}`
    const touchedAt = status === 'paused' ? rows.history.get(runId)?.at(-1)?.at : undefined
    const since = touchedAt ?? createdAt
    const group = byName.get(name)
    byName.set(name, {
      ...{ definitionId, workflow, version, status: status as LiveRuns['status'] },
      runs: (group?.runs ?? 0) + 1,
      oldestSince: Math.min(group?.oldestSince ?? since, since),
      runIds: [...(group?.runIds ?? []), runId].slice(0, RUN_IDS_MAX),
    })
  }
  return [...byName.values()]
}

function overdueSteps(rows: Rows, dueBefore: number): readonly OverdueSteps[] {
  const queued = rows.queue.list().map((entry) => ({ ...entry, availableAt: entryReadyAt(rows, entry) }))
  const due = queued.filter(({ availableAt }) => availableAt < dueBefore)
  return [...rows.definitions.values()].flatMap(({ saved }) => {
    const own = due.filter(({ definitionId }) => definitionId === saved.id)
    if (own.length === 0) return []
    const { id: definitionId, name: workflow, version } = saved
    const oldestDueAt = Math.min(...own.map(({ availableAt }) => availableAt))
    return [{ definitionId, workflow, version, steps: Math.min(own.length, OVERDUE_MAX), oldestDueAt }]
  })
}

export function countReady(rows: Rows, { max }: { readonly max: number }): ReadyCount {
  const ready = rows.queue.list().filter((entry) => entry.availableAt <= rows.now && isReady(rows, entry))
  const counted = ready.slice(0, max)
  return {
    at: rows.now,
    steps: counted.length,
    capped: ready.length > max,
    oldestDueAt: counted.length === 0 ? null : Math.min(...counted.map((entry) => entryReadyAt(rows, entry))),
  }
}

function isReady(rows: Rows, { runId, step: number }: QueuedStep): boolean {
  const run = rows.runs.get(runId)
  const step = run === undefined ? undefined : rowOf(run, number)
  return run !== undefined && step !== undefined && isClaimable({ run, step })
}

function entryReadyAt(rows: Rows, { runId, step: number, availableAt: place }: QueuedStep): number {
  const run = rows.runs.get(runId)
  const step = run === undefined ? undefined : rowOf(run, number)
  return step === undefined ? place : readyAt(step, place)
}

function strandedSteps(rows: Rows, live: readonly RunRow[], endedBy: number): readonly StrandedStep[] {
  const followed = followedSteps(rows, endedBy)
  return live.flatMap((run) =>
    rowsOf(run).flatMap((step) => {
      const { runId, workflow, definition } = run
      const fault = faultOf(rows, run, step) ?? (isChildless(run, step, followed) ? 'childless' : undefined)
      if (fault === undefined) return []
      return [{ runId, workflow, version: definition.saved.version, name: nameOf(run, step), fault }]
    }),
  )
}

function faultOf(rows: Rows, run: RunRow, step: StepRow): StrandedStep['fault'] | undefined {
  if (isLeased(step)) return rows.workers.has(step.workerId!) ? undefined : 'unheld'
  // A wait without a timeout is in no queue: its signal will queue it.
  if (!isClaimable({ run, step }) || isEndlessWait(step)) return undefined
  const at = { runId: run.runId, step: step.step }
  // A parked step is in a line instead.
  return rows.queue.has(at) || rows.limits.waiters.get(waiterName(at))?.fence === step.fence
    ? undefined
    : 'unqueued'
}

function isEndlessWait({ status, availableAt }: StepRow): boolean {
  return status === 'waiting' && availableAt === null
}

/** The steps, as `run/number`, that have a child which has not ended, or only after that time. */
function followedSteps(rows: Rows, endedBy: number): ReadonlySet<string> {
  const children = [...rows.runs.values()].filter(
    ({ parent, finishedAt }) => parent !== null && (finishedAt === null || finishedAt > endedBy),
  )
  return new Set(children.map(({ parent }) => `${parent!.runId}/${parent!.step}`))
}

function isChildless(run: RunRow, step: StepRow, followed: ReadonlySet<string>): boolean {
  if (run.status !== 'running' || !isEndlessWait(step)) return false
  // Nothing else lets an item wait.
  const waitsForChild = isItem(step.step) || run.definition.saved.shape.steps[step.step]!.kind === 'child'
  return waitsForChild && !followed.has(`${run.runId}/${step.step}`)
}
