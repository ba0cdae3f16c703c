import type {
  PayloadRequest,
  RunFilter,
  RunPayloads,
  RunRecord,
  RunStatus,
  StepRecord,
  StepStatus,
} from '@belay/workflow/adapter'
import type { Rows, RunRow } from './rows.ts'

export function readRun(
  rows: Rows,
  runId: string,
): { readonly run: RunRecord; readonly steps: readonly StepRecord[] } | null {
  const run = rows.runs.get(runId)
  return run === undefined ? null : { run: runRecord(rows, run), steps: stepRecords(run) }
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

export function listRuns(rows: Rows, filter: RunFilter): readonly RunRecord[] {
  const matching = [...rows.runs.values()].filter((run) => matches(rows, run, filter))
  matching.sort((one, other) => (one.runId < other.runId ? 1 : -1))
  return matching.slice(0, filter.limit).map((run) => runRecord(rows, run))
}

export function load(rows: Rows, requests: readonly PayloadRequest[]): readonly RunPayloads[] {
  return requests.flatMap(({ runId, steps }) => {
    const run = rows.runs.get(runId)
    if (run === undefined) return []
    const payloads = steps.flatMap((number) => {
      const row = run.steps[number]
      if (row === undefined) return []
      const { step, output, error, availableAt, waitingSince, signalledAt, failingSince, succeeded } = row
      return [{ step, output, error, availableAt, waitingSince, signalledAt, failingSince, succeeded }]
    })
    return [{ runId, input: run.input, cause: run.cause, steps: payloads, now: rows.now }]
  })
}

/** A run that has not begun is scheduled, and one in which every live step waits is waiting: nobody has to notice when that ends. */
function shownStatus(rows: Rows, run: RunRow): RunStatus {
  if (run.status !== 'running') return run.status
  if (run.startAt !== null && run.startAt > rows.now) return 'scheduled'
  const any = (...statuses: readonly StepStatus[]) =>
    run.steps.some(({ status }) => statuses.includes(status))
  return any('waiting') && !any('ready', 'running') ? 'waiting' : 'running'
}

export function runRecord(rows: Rows, run: RunRow): RunRecord {
  const { runId, workflow, definition, key, input, cause, createdAt, finishedAt } = run
  const { startAt, deadlineAt } = run
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
  }
}

export function stepRecords(run: RunRow): readonly StepRecord[] {
  return run.steps.map(({ begun: _, ...step }) => ({
    ...step,
    name: run.definition.saved.shape.steps[step.step]!.name,
  }))
}

function matches(rows: Rows, run: RunRow, { workflow, status, key, before }: RunFilter): boolean {
  return (
    (workflow === undefined || run.workflow === workflow) &&
    (status === undefined || status.includes(shownStatus(rows, run))) &&
    (key === undefined || run.key === key) &&
    (before === undefined || run.runId < before)
  )
}

function known(rows: Rows, runIds: readonly string[]): readonly RunRow[] {
  return [...new Set(runIds)].flatMap((runId) => rows.runs.get(runId) ?? [])
}
