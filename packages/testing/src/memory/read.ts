import {
  type Adapter,
  continuesPast,
  countItems,
  type DatedRun,
  groupOf,
  type ItemsToRead,
  isItem,
  type RunConditions,
  type RunCount,
  type RunCountRequest,
  type RunFilter,
  type RunRecord,
  type RunResult,
  type RunStatus,
  type StatesOfSteps,
  type StepRecord,
  type StepStatus,
  templateOf,
} from '@belay/workflow/adapter'
import { itemsOfEachStatus } from './items-of-each-status.ts'
import { readLimitWaits } from './limits.ts'
import { differingItems } from './prints.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { nameOf, rowsOf } from './run-rows.ts'
import { isPastPivot } from './stop.ts'
import { valueRecords } from './value-rows.ts'

export function readRun(
  rows: Rows,
  runId: string,
  items?: ItemsToRead,
): Awaited<ReturnType<Adapter['readRun']>> {
  const run = rows.runs.get(runId)
  if (run === undefined) return null
  const steps = stepRecords(run).map((step) => marked(run, step))
  const read = { run: datedRun(rows, run), values: valueRecords(rows, run) }
  if (items === undefined) return { ...read, steps }
  const others = steps.filter(({ step }) => !isItem(step))
  if (items === 'none') return { ...read, steps: others }
  if ('known' in items) {
    const differing = differingItems(run, items)
    const groups = new Set(differing.prints.map(({ first }) => first))
    const rows = steps.filter(({ step }) => isItem(step) && groups.has(groupOf(step)))
    const shown = items.outputs ? rows : rows.map((row) => ({ ...row, output: null }))
    return { ...read, steps: [...others, ...shown], differing }
  }
  if ('eachStatusMax' in items)
    return { ...read, steps: [...others, ...itemsOfEachStatus(steps, items)], itemCounts: countItems(steps) }
  const page = steps
    .filter(({ step }) => isItem(step) && step > items.after && step < items.before)
    .slice(0, items.limit)
  return { ...read, steps: [...others, ...page], itemCounts: countItems(steps) }
}

export function readStatuses(
  rows: Rows,
  runIds: readonly string[],
  { stored = false }: { readonly stored?: boolean } = {},
): readonly { readonly runId: string; readonly status: RunStatus }[] {
  return known(rows, runIds).map((run) => ({
    runId: run.runId,
    status: stored ? run.status : shownStatus(rows, run),
  }))
}

/** The results of those of these runs that have completed. */
export function readResults(rows: Rows, runIds: readonly string[]): readonly RunResult[] {
  return known(rows, runIds)
    .filter(({ status }) => status === 'completed')
    .map(({ runId, definition, steps }) => ({
      runId,
      definitionId: definition.saved.id,
      steps: steps.map(({ step, status, branch, output, error }) => ({
        step,
        status,
        branch,
        output,
        error,
      })),
    }))
}

export function listRuns(rows: Rows, filter: RunFilter): readonly DatedRun[] {
  const { before, after, limit, steps } = filter
  const fitting = newestFitting(rows, filter).filter(
    ({ runId }) => (before === undefined || runId < before) && (after === undefined || runId > after),
  )
  const page = after === undefined ? fitting.slice(0, limit) : fitting.slice(-limit)
  return page.map((run) => ({
    ...datedRun(rows, run),
    ...(steps === true ? { states: statesOf(run) } : {}),
  }))
}

function statesOf(run: RunRow): StatesOfSteps {
  const steps = stepRecords(run)
  return {
    steps: steps.filter(({ step }) => !isItem(step)).map(({ step, status }) => ({ step, status })),
    itemCounts: countItems(steps),
  }
}

export function countRuns(
  rows: Rows,
  { max, byStatus, ...conditions }: RunCountRequest,
): readonly RunCount[] {
  const fitting = newestFitting(rows, conditions)
  if (!byStatus) return [{ status: null, count: Math.min(fitting.length, max), capped: fitting.length > max }]
  // Counted like in stores that keep one status for every run that goes forward: they compute the shown status run by run.
  return groups(fitting, ({ status }) => status).flatMap(([, runs]) =>
    groups(runs.slice(0, max), (run) => shownStatus(rows, run)).map(([status, shown]) => ({
      status,
      count: shown.length,
      capped: runs.length > max,
    })),
  )
}

function groups<Key>(runs: readonly RunRow[], keyOf: (run: RunRow) => Key): readonly [Key, RunRow[]][] {
  const byKey = new Map<Key, RunRow[]>()
  for (const run of runs) {
    const group = byKey.get(keyOf(run))
    if (group === undefined) byKey.set(keyOf(run), [run])
    else group.push(run)
  }
  return [...byKey]
}

function newestFitting(rows: Rows, conditions: RunConditions): readonly RunRow[] {
  const fitting = [...rows.runs.values()].filter((run) => fits(rows, run, conditions))
  return fitting.sort((one, other) => (one.runId < other.runId ? 1 : -1))
}

/** `scheduled`, `waiting` and `parked` are computed, so nobody has to write when they end. */
export function shownStatus(rows: Rows, run: RunRow): RunStatus {
  if (run.status !== 'running') return run.status
  if (run.startAt !== null && run.startAt > rows.now) return 'scheduled'
  const any = (...statuses: readonly StepStatus[]) =>
    rowsOf(run).some(({ status }) => statuses.includes(status))
  if (rowsOf(run).some((row) => row.status === 'failed' && !isContinued(run, row))) return 'parked'
  return any('waiting') && !any('ready', 'running') ? 'waiting' : 'running'
}

function isContinued(run: RunRow, { step, status }: StepRow): boolean {
  const shape = run.definition.saved.shape.steps[templateOf(step)]!
  if (status !== 'failed') return false
  return !isPastPivot(run) || (isItem(step) ? shape.onFailure === 'continue' : continuesPast(shape))
}

function datedRun(rows: Rows, run: RunRow): DatedRun {
  return { ...runRecord(rows, run), readAt: rows.now }
}

export function runRecord(rows: Rows, run: RunRow): RunRecord {
  const { runId, workflow, definition, key, input, cause, createdAt, finishedAt } = run
  const { startAt, deadlineAt, tags, parent, priority } = run
  const { id: definitionId, version } = definition.saved
  return {
    runId,
    workflow,
    version,
    definitionId,
    key,
    status: shownStatus(rows, run),
    input,
    cause,
    createdAt,
    finishedAt,
    startAt,
    deadlineAt,
    tags,
    parent,
    ...(priority === 0 ? {} : { priority }),
  }
}

/** The items of an irreversible map are marked, and not the step that decides them. */
function marked({ definition }: RunRow, step: StepRecord): StepRecord {
  const { irreversible, kind } = definition.saved.shape.steps[templateOf(step.step)]!
  return irreversible === true && (isItem(step.step) || kind !== 'map') ? { ...step, irreversible } : step
}

export function stepRecords(run: RunRow): readonly StepRecord[] {
  return rowsOf(run).map((row) => stepRecord(run, row))
}

// Named field by field: an object made of the rest of another one is several times slower to make and to read, and a simulated world makes millions.
function stepRecord(run: RunRow, row: StepRow): StepRecord {
  const record: StepRecord = {
    step: row.step,
    status: row.status,
    openDependencies: row.openDependencies,
    fence: row.fence,
    round: row.round,
    attempts: row.attempts,
    failures: row.failures,
    losses: row.losses,
    workerId: row.workerId,
    undoOf: row.undoOf,
    undo: row.undo,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    output: row.output,
    error: row.error,
    availableAt: row.availableAt,
    waitingSince: row.waitingSince,
    signalledAt: row.signalledAt,
    failingSince: row.failingSince,
    succeeded: row.succeeded,
    branch: row.branch,
    name: nameOf(run, row),
  }
  return row.priority === 0 ? named(record, row) : { ...named(record, row), priority: row.priority }
}

function named(record: StepRecord, row: StepRow): StepRecord {
  if (row.atOnce !== null)
    return { ...record, turns: { atOnce: row.atOnce, nextItem: row.nextItem!, order: row.itemOrder } }
  return row.item === null ? record : { ...record, itemKey: row.item.key }
}

function fits(rows: Rows, run: RunRow, conditions: RunConditions): boolean {
  const { workflow, version, idPrefix, status, key, keyPrefix, tags, parentId, waitingFor } = conditions
  const { createdAfter, createdBefore, finishedAfter, finishedBefore } = conditions
  return (
    (workflow === undefined || workflow.includes(run.workflow)) &&
    (version === undefined || run.definition.saved.version === version) &&
    (idPrefix === undefined || run.runId.replaceAll('-', '').startsWith(idPrefix)) &&
    (status === undefined || status.includes(shownStatus(rows, run))) &&
    (key === undefined || run.key === key) &&
    (keyPrefix === undefined || run.key?.startsWith(keyPrefix) === true) &&
    (tags === undefined || hasAll(run, tags)) &&
    (parentId === undefined || run.parent?.runId === parentId.toLowerCase()) &&
    (waitingFor === undefined || waitsFor(rows, run.runId, waitingFor)) &&
    isWithin(run.createdAt, createdAfter, createdBefore) &&
    isWithin(run.finishedAt, finishedAfter, finishedBefore)
  )
}

function waitsFor(
  rows: Rows,
  runId: string,
  { limit, key }: NonNullable<RunConditions['waitingFor']>,
): boolean {
  return readLimitWaits(rows, runId).some((wait) => wait.limit === limit && (key ?? wait.key) === wait.key)
}

export function hasAll(run: RunRow, tags: readonly string[]): boolean {
  return tags.every((tag) => run.tags.includes(tag))
}

/** From `after` to before `before`. An instant that never came is outside every range. */
function isWithin(instant: number | null, after: number | undefined, before: number | undefined): boolean {
  if (after === undefined && before === undefined) return true
  return instant !== null && instant >= (after ?? -Infinity) && instant < (before ?? Infinity)
}

function known(rows: Rows, runIds: readonly string[]): readonly RunRow[] {
  return [...new Set(runIds)].flatMap((runId) => rows.runs.get(runId) ?? [])
}
