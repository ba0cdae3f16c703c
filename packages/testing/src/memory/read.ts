import type {
  PayloadRequest,
  RunFilter,
  RunPayloads,
  RunRecord,
  RunStatus,
  StepRecord,
} from '@belay/workflow/adapter'
import type { Rows, RunRow } from './rows.ts'

export function readRun(
  rows: Rows,
  runId: string,
): { readonly run: RunRecord; readonly steps: readonly StepRecord[] } | null {
  const run = rows.runs.get(runId)
  return run === undefined ? null : { run: runRecord(run), steps: stepRecords(run) }
}

export function readStatuses(
  rows: Rows,
  runIds: readonly string[],
): readonly { readonly runId: string; readonly status: RunStatus }[] {
  return known(rows, runIds).map(({ runId, status }) => ({ runId, status }))
}

export function listRuns(rows: Rows, filter: RunFilter): readonly RunRecord[] {
  const matching = [...rows.runs.values()].filter((run) => matches(run, filter))
  matching.sort((one, other) => (one.runId < other.runId ? 1 : -1))
  return matching.slice(0, filter.limit).map(runRecord)
}

export function load(rows: Rows, requests: readonly PayloadRequest[]): readonly RunPayloads[] {
  return requests.flatMap(({ runId, steps }) => {
    const run = rows.runs.get(runId)
    if (run === undefined) return []
    const payloads = steps.flatMap((number) => {
      const row = run.steps[number]
      return row === undefined ? [] : [{ step: number, output: row.output, error: row.error }]
    })
    return [{ runId, input: run.input, cause: run.cause, steps: payloads }]
  })
}

export function runRecord(run: RunRow): RunRecord {
  const { runId, workflow, definition, key, status, input, cause, createdAt, finishedAt } = run
  const { startAt, deadlineAt } = run
  const { id: definitionId, version } = definition.saved
  return {
    runId,
    workflow,
    version,
    definitionId,
    key,
    status,
    input,
    cause,
    createdAt,
    finishedAt,
    startAt,
    deadlineAt,
  }
}

export function stepRecords(run: RunRow): readonly StepRecord[] {
  return run.steps.map((step) => ({
    ...step,
    name: run.definition.saved.shape.steps[step.step]!.name,
  }))
}

function matches(run: RunRow, { workflow, status, key, before }: RunFilter): boolean {
  return (
    (workflow === undefined || run.workflow === workflow) &&
    (status === undefined || status.includes(run.status)) &&
    (key === undefined || run.key === key) &&
    (before === undefined || run.runId < before)
  )
}

function known(rows: Rows, runIds: readonly string[]): readonly RunRow[] {
  return [...new Set(runIds)].flatMap((runId) => rows.runs.get(runId) ?? [])
}
