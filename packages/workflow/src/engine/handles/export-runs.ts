import type { Adapter } from '../../adapter/index.ts'
import type { RunCause, SerialisedError } from '../../cause.ts'
import { type OptionTable, wholeNumber, yesOrNo } from '../../options/index.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { SetAside } from '../base/set-aside.ts'
import { historyEntry, type RunHistoryEntry } from '../control/history.ts'
import { listPage } from '../runs/list-runs.ts'
import { type RunAttempt, runAttempt } from '../runs/run-attempt.ts'
import { type RunSnapshot, runSnapshot } from '../runs/run-snapshot.ts'
import { checkConditions, type RunsMatching } from '../runs/runs-filter.ts'

/** A run with all that is stored about it. */
export interface ExportedRun extends RunSnapshot {
  /** The kept attempts: see the option `attempts` of `createEngine()`. */
  readonly attempts: readonly RunAttempt[]
  /** The actions of operators on the run, and the signals and decisions that it received, oldest first. */
  readonly history: readonly RunHistoryEntry[]
}

/** Which runs to export, and what of them. */
export interface RunsToExport extends RunsMatching {
  /** Whether payloads, and the messages of errors, are exported too. Default false. */
  readonly payloads?: boolean | undefined
  /** The most runs to export, newest first. Default: all. */
  readonly limit?: number | undefined
}

const OPTIONS = {
  payloads: { sets: 'whether payloads are exported too', takes: yesOrNo, default: false },
  limit: { sets: 'how many runs are exported at most', takes: wholeNumber(1, 1_000_000_000) },
} satisfies OptionTable

const PAGE = 200
/** The most that the store answers for one run. */
const ROWS_MAX = 10_000

export interface ExportParts {
  readonly adapter: Adapter
  readonly registry: Pick<DefinitionRegistry, 'marked'>
  readonly aside: SetAside
}

/** Throws `invalid_option`, at the call. */
export function exportRuns(parts: ExportParts, given: RunsToExport): AsyncIterableIterator<ExportedRun> {
  const {
    payloads,
    limit = Number.POSITIVE_INFINITY,
    ...filter
  } = checkConditions('runs.export()', given, OPTIONS)
  return exported(parts, { payloads, limit, filter })
}

async function* exported(
  parts: ExportParts,
  {
    payloads,
    limit,
    filter,
  }: { payloads: boolean; limit: number; filter: ReturnType<typeof checkConditions> },
): AsyncGenerator<ExportedRun, void> {
  await parts.adapter.open()
  let before: string | undefined
  for (let left = limit; left > 0; ) {
    const page = await listPage(parts, { ...filter, before, limit: Math.min(PAGE, left) })
    for (const { id } of page) {
      const run = await exportedRun(parts, id)
      // It was pruned meanwhile.
      if (run !== null) yield payloads ? run : withoutPayloads(run)
    }
    if (page.length < Math.min(PAGE, left)) return
    left -= page.length
    before = page.at(-1)!.id
  }
}

async function exportedRun({ adapter, registry }: ExportParts, runId: string): Promise<ExportedRun | null> {
  const found = await adapter.readRun(runId)
  if (found === null) return null
  const marked = await registry.marked(found.run.definitionId)
  const history = await adapter.readHistory({ runId, limit: ROWS_MAX })
  return {
    ...runSnapshot({ ...found, ...marked }),
    attempts: (await adapter.readAttempts({ runId, limit: ROWS_MAX })).map(runAttempt),
    history: history.map(historyEntry),
  }
}

function withoutPayloads(run: ExportedRun): ExportedRun {
  return {
    ...run,
    input: undefined,
    values: {},
    cause: bareCause(run.cause),
    steps: run.steps.map((step) => ({
      ...step,
      output: undefined,
      error: bare(step.error),
      progress: step.progress && { ...step.progress, note: undefined },
      undo: step.undo && { ...step.undo, error: bare(step.undo.error) },
    })),
    attempts: run.attempts.map((attempt) => ({ ...attempt, error: bare(attempt.error) })),
    history: run.history.map((entry) => ({ ...entry, change: bareChange(entry) })),
  }
}

/** A signal's is its payload; an operator's may hold the run's cause, or a stand-in. */
function bareChange({ action, change }: RunHistoryEntry): unknown {
  if (action === 'signal' || typeof change !== 'object' || change === null) return undefined
  const { status, steps } = change as { readonly status?: unknown; readonly steps?: unknown }
  return { status, steps }
}

function bareCause(cause: RunCause | undefined): RunCause | undefined {
  return cause?.type === 'step_failed' ? { ...cause, error: bare(cause.error)! } : cause
}

/** An error's message may quote what it was about. */
function bare(error: SerialisedError | undefined): SerialisedError | undefined {
  return error && { name: error.name, message: '', ...(error.code === undefined ? {} : { code: error.code }) }
}
