import {
  type Claim,
  type Lease,
  missingDefinition,
  type NewRun,
  refusedStart,
  type StartedRun,
  type StartLimit,
} from '@belay/workflow/adapter'
import { definitionOf } from './definitions.ts'
import { dropVoidAtStart, enterAtStart } from './enter-at-start.ts'
import { enqueueAt, isLeased, lease as leaseStep } from './lease.ts'
import { lineName } from './limit-rows.ts'
import { refusalOf } from './payload.ts'
import { type DefinitionRow, keyOf, type Rows, type RunRow, type StepRow } from './rows.ts'
import { rowOf } from './run-rows.ts'
import type { MemoryTransaction } from './transaction.ts'
import { isLive } from './workers.ts'

export function startRuns(rows: Rows, runs: readonly NewRun[], given?: Lease): readonly StartedRun[] {
  const lease = runs.some(({ limits }) => limits !== undefined) ? undefined : given
  // Checks everything that may be refused first: a call creates all of its runs or none.
  checkStartable(rows, runs)
  dropVoidAtStart(rows, runs)
  const created: RunRow[] = []
  const started = runs.map((run) => {
    const holder = holderOf(rows, run)
    if (holder !== undefined) return describe(holder, false)
    if (!isParentHeld(rows, run)) return lost(run)
    const full = enterAtStart(rows, run)
    if (full !== undefined) return notStarted(run, full)
    created.push(insertRun(rows, run))
    return describe(created.at(-1)!, true)
  })
  const claims = placeRoots(rows, created, lease)
  if (lease === undefined) return started
  return started.map((run) => ({
    ...run,
    claims: run.created ? claims.filter(({ runId }) => runId === run.runId) : [],
  }))
}

/** Leases the roots of as many runs as the lease allows, and queues the rest. */
function placeRoots(rows: Rows, created: readonly RunRow[], lease: Lease | undefined): readonly Claim[] {
  const isTaken = lease !== undefined && isLive(rows, lease.workerId)
  const claims: Claim[] = []
  let roots = 0
  for (const run of [...created].sort((one, other) => (one.runId < other.runId ? -1 : 1))) {
    const ready = readySteps(run)
    roots += ready.length
    const isDue = (run.startAt ?? rows.now) <= rows.now
    if (!isTaken || !isDue || roots > lease.handBackMax) queueRoots(rows, run)
    else claims.push(...ready.map((step) => leaseStep(rows, { run, step }, lease.workerId)))
  }
  return claims
}

function queueRoots(rows: Rows, run: RunRow): void {
  for (const step of readySteps(run)) enqueueAt(rows, { run, step }, run.startAt ?? rows.now)
}

function readySteps({ steps }: RunRow): readonly StepRow[] {
  return steps.filter(({ status }) => status === 'ready')
}

/** Starts runs inside a transaction: they are created when it commits, and their keys are held until then. */
export function startRunsWithin(
  rows: Rows,
  runs: readonly NewRun[],
  tx: MemoryTransaction,
): readonly StartedRun[] {
  tx.assertOpen()
  checkStartable(rows, runs)
  dropVoidAtStart(rows, runs)
  return runs.map((run) => {
    const holder = holderOf(rows, run)
    if (holder !== undefined) return describe(holder, false)
    const sameKey = ({ workflow, key }: NewRun) =>
      key !== null && key === run.key && workflow === run.workflow
    const own = tx.runs.get(run.runId) ?? [...tx.runs.values()].find(sameKey)
    if (own === undefined && !isParentHeld(rows, run)) return lost(run)
    if (own === undefined) {
      const full = enterAtStart(rows, run, tx)
      tx.hold(full === undefined ? namesOf([run]) : limitNamesOf(run))
      if (full !== undefined) return notStarted(run, full)
      tx.runs.set(run.runId, run)
    }
    const { runId, definitionId, input, inputHash = null } = own ?? run
    if (own === undefined) return { runId, created: true, definitionId, input }
    const { version } = definitionOf(rows, definitionId).saved
    return { runId, created: false, definitionId, input, version, inputHash }
  })
}

/** The names that new runs hold until their transaction ends. */
export function namesOf(runs: readonly NewRun[]): readonly string[] {
  return runs.flatMap((run) => [
    ...(run.key === null ? [] : [`key ${keyOf(run.workflow, run.key)}`]),
    ...limitNamesOf(run),
  ])
}

function limitNamesOf({ limits = [] }: NewRun): readonly string[] {
  return limits.map((line) => `limit ${lineName(line)}`)
}

function checkStartable(rows: Rows, runs: readonly NewRun[]): void {
  for (const run of runs) {
    if (!rows.definitions.has(run.definitionId)) throw missingDefinition(run)
    const refusal = refusalOf(run.input)
    if (refusal !== undefined) throw refusedStart(runs, refusal)
  }
}

/** The stored run that the call returns instead of the new one: the run with its key, or the run itself if the call is a repetition. */
function holderOf(rows: Rows, run: NewRun): RunRow | undefined {
  const keyed = run.key === null ? undefined : rows.runByKey(run.workflow, run.key)
  return keyed ?? rows.runs.get(run.runId)
}

/** Creates a run and queues its roots. */
export function createRun(rows: Rows, newRun: NewRun): void {
  queueRoots(rows, insertRun(rows, newRun))
}

function insertRun(rows: Rows, newRun: NewRun): RunRow {
  const { runId, definitionId, workflow, key, input, inputHash = null, deadlineMs, tags = [] } = newRun
  const { parent = null, reportsEnd = false, priority = 0, stepPriorities = [] } = newRun
  const startAt = startOf(rows, newRun)
  const definition = definitionOf(rows, definitionId)
  const run: RunRow = {
    runId,
    definition,
    workflow,
    key,
    input,
    inputHash,
    createdAt: rows.now,
    startAt,
    deadlineAt: deadlineMs === undefined ? null : (startAt ?? rows.now) + deadlineMs,
    tags: [...tags],
    parent,
    reportsEnd,
    priority,
    steps: definition.saved.shape.steps.map((shape, step) => ({
      ...newStep(step, shape.dependsOn.length, startAt),
      priority: priority + (stepPriorities[step] ?? 0),
    })),
    items: new Map(),
    status: 'running',
    openSteps: countSinks(definition),
    endsAs: null,
    stop: null,
    cause: null,
    finishedAt: null,
  }
  rows.addRun(run)
  return run
}

/** A start time in the past counts as now. So the run does not overtake others in the queue, and its deadline counts from now. */
function startOf(rows: Rows, { startAt, startDelayMs }: NewRun): number | null {
  if (startAt !== undefined) return Math.max(startAt, rows.now)
  return startDelayMs === undefined ? null : rows.now + startDelayMs
}

export function newStep(step: number, openDependencies: number, startAt: number | null): StepRow {
  return {
    step,
    status: openDependencies === 0 ? 'ready' : 'pending',
    openDependencies,
    fence: 0,
    round: 1,
    attempts: 0,
    failures: 0,
    losses: 0,
    workerId: null,
    undoOf: null,
    undo: null,
    startedAt: null,
    finishedAt: null,
    output: null,
    error: null,
    availableAt: openDependencies === 0 ? startAt : null,
    waitingSince: null,
    signalledAt: null,
    failingSince: null,
    begun: null,
    succeeded: false,
    item: null,
    atOnce: null,
    nextItem: null,
    itemOrder: null,
    priority: 0,
    branch: null,
  }
}

function countSinks(definition: DefinitionRow): number {
  return definition.dependents.filter((dependents) => dependents.length === 0).length
}

/** Whether the attempt that starts the child of a step still holds that step. */
function isParentHeld(rows: Rows, { parent, parentFence }: NewRun): boolean {
  if (parentFence === undefined) return true
  const run = rows.runs.get(parent!.runId)
  const step = run === undefined ? undefined : rowOf(run, parent!.step!)
  return step?.fence === parentFence && isLeased(step)
}

function lost({ runId, definitionId, input }: NewRun): StartedRun {
  return { runId, created: false, definitionId, input, lost: true }
}

function notStarted({ runId, definitionId, input }: NewRun, full: StartLimit): StartedRun {
  return { runId, created: false, definitionId, input, full }
}

function describe(run: RunRow, created: boolean): StartedRun {
  const { runId, input, inputHash } = run
  const { id: definitionId, version } = run.definition.saved
  const described = { runId, created, definitionId, input }
  return created ? described : { ...described, version, inputHash }
}
