import { type Adapter, ENDS } from '../../adapter/index.ts'
import type { Duration } from '../../duration.ts'
import { checkFilter, duration, type OptionTable, wholeNumber } from '../../options/index.ts'
import { countApart } from '../base/count-apart.ts'
import { NARROWING } from '../runs/runs-filter.ts'
import { walkEnded } from './ended-runs.ts'
import { AGE_MAX, BATCH_DEFAULT } from './prune.ts'

export interface ReleaseKeysOptions {
  /** Only keys of runs that ended at least this long ago. */
  readonly olderThan: Duration
  /** Only keys of runs of this workflow, or of these workflows. */
  readonly workflow?: string | readonly string[]
  /** Only keys of runs that were started with all of these tags. */
  readonly tags?: readonly string[]
  /** The most keys to release in this call. Default 100,000. */
  readonly limit?: number
}

export interface ReleasedKeys {
  readonly released: number
  /** There may be more to release: the limit was reached. */
  readonly more: boolean
}

const CALL = 'runs.releaseKeys()'

const OPTIONS = {
  olderThan: { sets: 'how long ago a run must have ended', takes: duration(0, AGE_MAX), required: true },
  ...NARROWING,
  limit: {
    sets: 'how many keys are released at most',
    takes: wholeNumber(1, 1_000_000_000),
    default: 100_000,
  },
} satisfies OptionTable

/**
 * Releases the keys of runs that ended long enough ago. Then throws the store's error about the first run that it refused to change, if there is one.
 * Throws `invalid_option`.
 */
export async function releaseKeys(adapter: Adapter, options: ReleaseKeysOptions): Promise<ReleasedKeys> {
  const { olderThan: olderThanMs, limit, workflow, tags } = checkFilter(CALL, options, OPTIONS)
  await adapter.open()
  const finishedBefore = (await adapter.now()) - olderThanMs
  const refused: unknown[] = []
  const walked = await walkEnded({
    adapter,
    request: { finishedBefore, statuses: ENDS, workflow, tags, keyed: true },
    after: null,
    batchMax: BATCH_DEFAULT,
    limit,
    act: (runIds) =>
      releaseApart(adapter, { runIds, finishedBefore }, (_, error) => void refused.push(error)),
    stopped: () => false,
  })
  if (refused.length > 0) throw refused[0]
  return { released: walked.done, more: walked.more }
}

/** A run that the store refuses to change keeps no others. Resolves to the number of released keys. */
export function releaseApart(
  adapter: Adapter,
  { runIds, finishedBefore }: { readonly runIds: readonly string[]; readonly finishedBefore: number },
  onRefused: (runId: string, error: unknown) => void,
): Promise<number> {
  return countApart(runIds, (part) => adapter.releaseKeys({ runIds: part, finishedBefore }), onRefused)
}
