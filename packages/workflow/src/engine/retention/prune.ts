import {
  type Adapter,
  ENDS,
  type EndStatus,
  type HistoryRecord,
  type RunConditions,
  type RunRecord,
} from '../../adapter/index.ts'
import type { Duration } from '../../duration.ts'
import {
  abortSignal,
  callback,
  checkFilter,
  duration,
  type OptionTable,
  someOf,
  wholeNumber,
  yesOrNo,
} from '../../options/index.ts'
import { countApart } from '../base/count-apart.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { EventHub } from '../base/events.ts'
import { isUnavailable } from '../base/outage.ts'
import { historyEntry, type RunHistoryEntry } from '../control/history.ts'
import type { SeenRun } from '../runs/run-feed.ts'
import { type RunSnapshot, runSnapshot } from '../runs/run-snapshot.ts'
import { NARROWING } from '../runs/runs-filter.ts'
import { walkEnded } from './ended-runs.ts'

export const BATCH_DEFAULT = 500
export const BATCH_MAX = 10_000
export const AGE_MAX: Duration = '36500d'
const LIMIT_DEFAULT = 100_000
const LIMIT_MAX = 1_000_000_000
/** The limit of payload in one call of an archive, in characters: the run that reaches it is the last of the call. */
const ARCHIVE_CHARS_MAX = 16 * 1024 * 1024

/** No limit: the largest number that the store accepts. */
const HISTORY_MAX = 2_147_483_647

/** A run as an archive gets it, with everything that is deleted with it. */
export interface ArchivedRun extends RunSnapshot {
  /** All actions of operators on the run, and all signals and decisions it received (`action: 'signal'`), oldest first. */
  readonly history: readonly RunHistoryEntry[]
}

/**
 * Stores runs elsewhere before they are deleted. If it throws, none of them is deleted. It may get a run twice, after a crash or from two pruning
 * processes: make its writes idempotent by run id.
 */
export type Archive = (runs: readonly ArchivedRun[]) => void | Promise<void>

export interface PruneOptions {
  /** Only runs that ended at least this long ago. */
  readonly olderThan: Duration
  /** Default: every terminal status. Live runs and parked runs (`compensation_failed`) are never pruned. */
  readonly statuses?: readonly EndStatus[]
  /** Only runs of this workflow, or of these workflows. */
  readonly workflow?: string | readonly string[]
  /** Only runs that were started with all of these tags. */
  readonly tags?: readonly string[]
  /** The most runs to prune in this call. Default 100,000. */
  readonly limit?: number
  /** Runs deleted in one transaction, 1 to 10,000. Default 500. */
  readonly batch?: number
  /** Gets every run before it is deleted. */
  readonly archive?: Archive
  /** True counts the runs that would be deleted, and deletes and archives nothing. Default false. */
  readonly dryRun?: boolean
  /** Ends the call after the current batch. It then resolves with `more: true`. */
  readonly signal?: AbortSignal
  /** Called after each batch. */
  readonly onProgress?: (progress: { readonly pruned: number; readonly batches: number }) => void
}

export interface PruneReport {
  /** The deleted runs; in a dry run, those that would be. */
  readonly pruned: number
  readonly batches: number
  /** There may be more to prune: the limit was reached, or `signal` fired. */
  readonly more: boolean
}

export interface PruneSettings {
  readonly olderThanMs: number
  readonly statuses: readonly EndStatus[]
  readonly narrowing: Pick<RunConditions, 'workflow' | 'tags'>
  readonly limit: number
  readonly batch: number
  readonly archive: Archive | undefined
  readonly dryRun: boolean
  readonly signal: AbortSignal | undefined
  readonly onProgress: PruneOptions['onProgress'] | undefined
}

const CALL = 'prune()'

const OPTIONS = {
  olderThan: { sets: 'how long ago a run must have ended', takes: duration(0, AGE_MAX), required: true },
  statuses: {
    sets: 'the statuses of the runs to prune',
    takes: someOf(ENDS),
    default: ENDS,
    narrows: true,
  },
  ...NARROWING,
  limit: {
    sets: 'how many runs are pruned at most',
    takes: wholeNumber(1, LIMIT_MAX),
    default: LIMIT_DEFAULT,
  },
  batch: {
    sets: 'how many runs are deleted in one transaction',
    takes: wholeNumber(1, BATCH_MAX),
    default: BATCH_DEFAULT,
  },
  archive: { sets: 'the function that gets every run before it is deleted', takes: callback<Archive>() },
  dryRun: { sets: 'whether to count without deleting', takes: yesOrNo, default: false },
  signal: { sets: 'the signal that ends the call early', takes: abortSignal },
  onProgress: {
    sets: 'the function called after each batch',
    takes: callback<NonNullable<PruneOptions['onProgress']>>(),
  },
} satisfies OptionTable

/** Throws `invalid_option`. */
export function checkPruneOptions(given: PruneOptions): PruneSettings {
  const { olderThan, workflow, tags, archive, signal, onProgress, ...others } = checkFilter(
    CALL,
    given,
    OPTIONS,
  )
  return { ...others, olderThanMs: olderThan, narrowing: { workflow, tags }, archive, signal, onProgress }
}

export interface PruneParts {
  readonly adapter: Adapter
  readonly events: EventHub
  readonly registry: Pick<DefinitionRegistry, 'marked'>
  /** The store refuses to read or to delete this run, and nothing else. */
  readonly onRefused: (runId: string, error: unknown) => void
}

/**
 * Prunes until no run is old enough, the limit is reached, or the signal fires. Then throws the store's error about the first run that it refused to
 * delete, if there is one.
 */
export async function pruneRuns(
  given: Omit<PruneParts, 'onRefused'>,
  settings: PruneSettings,
): Promise<PruneReport> {
  const { adapter } = given
  const refused: unknown[] = []
  const onRefused = (_: string, error: unknown) => void refused.push(error)
  const parts = { ...given, onRefused }
  const { statuses, narrowing, signal, limit, batch } = settings
  const finishedBefore = (await adapter.now()) - settings.olderThanMs
  let [pruned, batches] = [0, 0]
  const walked = await walkEnded({
    adapter,
    request: { finishedBefore, statuses, ...narrowing },
    after: null,
    batchMax: batch,
    limit,
    act: async (runIds) => {
      const count = settings.dryRun
        ? runIds.length
        : await pruneBatch(parts, { ...settings, finishedBefore, runIds })
      pruned += count
      batches += 1
      // Awaited: if it is asynchronous and fails, the call fails, and not the process.
      await settings.onProgress?.({ pruned, batches })
      return count
    },
    stopped: () => signal?.aborted === true,
  })
  if (refused.length > 0) throw refused[0]
  return { pruned: walked.done, batches: walked.batches, more: walked.more }
}

/** Archives a batch, if there is an archive, then deletes it. Resolves to the number of deleted runs. */
export async function pruneBatch(
  parts: PruneParts,
  batch: {
    readonly runIds: readonly string[]
    readonly finishedBefore: number
    readonly statuses: readonly EndStatus[]
    readonly archive: Archive | undefined
  },
): Promise<number> {
  const { events } = parts
  const { runIds, finishedBefore, statuses, archive } = batch
  const pruned =
    archive === undefined
      ? await deleteApart(parts, runIds, finishedBefore)
      : await archiveAndPrune(parts, { runIds, finishedBefore, archive })
  if (pruned > 0) events.emit('runs.pruned', { pruned, statuses })
  return pruned
}

/** A run that the store refuses to delete, as one to which another table refers, keeps no others. Resolves to the number of deleted runs. */
function deleteApart(
  { adapter, onRefused }: Pick<PruneParts, 'adapter' | 'onRefused'>,
  runIds: readonly string[],
  finishedBefore: number,
): Promise<number> {
  return countApart(runIds, (part) => adapter.prune({ runIds: part, finishedBefore }), onRefused)
}

/** Reads one run at a time, so that archiving does not take connections from running steps. */
async function archiveAndPrune(
  parts: Omit<PruneParts, 'events'>,
  batch: { readonly runIds: readonly string[]; readonly finishedBefore: number; readonly archive: Archive },
): Promise<number> {
  const { finishedBefore, archive } = batch
  let [pruned, chars] = [0, 0]
  let runs: ArchivedRun[] = []
  const takeOver = async () => {
    if (runs.length === 0) return
    await archive(runs)
    pruned += await deleteApart(
      parts,
      runs.map(({ id }) => id),
      finishedBefore,
    )
    runs = []
    chars = 0
  }
  for (const runId of batch.runIds) {
    let read: { readonly run: ArchivedRun; readonly chars: number } | null
    try {
      read = await readForArchive(parts, runId, finishedBefore)
    } catch (error) {
      if (isUnavailable(error)) throw error
      parts.onRefused(runId, error)
      continue
    }
    if (read === null) continue
    runs.push(read.run)
    chars += read.chars
    if (chars >= ARCHIVE_CHARS_MAX) await takeOver()
  }
  await takeOver()
  return pruned
}

async function readForArchive(
  { adapter, registry }: Pick<PruneParts, 'adapter' | 'registry'>,
  runId: string,
  finishedBefore: number,
): Promise<{ readonly run: ArchivedRun; readonly chars: number } | null> {
  const found = await adapter.readRun(runId)
  if (found === null || !isEndedBefore(found.run, finishedBefore)) return null
  const history = await adapter.readHistory({ runId, limit: HISTORY_MAX })
  const marked = await registry.marked(found.run.definitionId)
  const run = { ...runSnapshot({ ...found, ...marked }), history: history.map(historyEntry) }
  return { run, chars: payloadChars(found) + historyChars(history) }
}

function isEndedBefore({ finishedAt }: RunRecord, instant: number): boolean {
  return finishedAt !== null && finishedAt < instant
}

function historyChars(history: readonly HistoryRecord[]): number {
  return history.reduce((sum, { change }) => sum + (change?.length ?? 0), 0)
}

function payloadChars({ run, steps, values }: Pick<SeenRun, 'run' | 'steps' | 'values'>): number {
  const told = values.reduce((sum, { value }) => sum + value.length, 0)
  const own = told + (run.input?.length ?? 0) + (run.cause?.length ?? 0)
  return steps.reduce((sum, step) => sum + (step.output?.length ?? 0) + (step.error?.length ?? 0), own)
}
