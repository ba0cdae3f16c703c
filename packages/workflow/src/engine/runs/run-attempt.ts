import type { Adapter, AttemptResult, Direction, KeptAttempt } from '../../adapter/index.ts'
import type { SerialisedError } from '../../cause.ts'
import { checkOptions, type OptionTable, wholeNumber } from '../../options/index.ts'
import { fromJsonText } from '../base/payload.ts'
import { findRun, type RunLookup, unknownRun } from './run-reference.ts'

const OPTIONS = {
  limit: { sets: 'how many attempts are read at most', takes: wholeNumber(1, 10_000), default: 200 },
} satisfies OptionTable

/** An ended attempt that was kept: see the option `attempts` of `createEngine()`. */
export interface RunAttempt {
  readonly step: string
  readonly direction: Direction
  /** The step's round, from 1. */
  readonly round: number
  /** 1, 2, 3 within a round and direction, as its handler saw it. */
  readonly attempt: number
  readonly workerId: string | undefined
  readonly startedAt: Date | undefined
  readonly finishedAt: Date
  readonly ended: AttemptResult
  readonly error: SerialisedError | undefined
}

/** Throws `unknown_run`, `invalid_option`. */
export async function readRunAttempts(
  adapter: Adapter,
  lookup: RunLookup,
  options: { readonly limit?: number },
): Promise<readonly RunAttempt[]> {
  const { limit } = checkOptions('runs.attempts()', options, OPTIONS)
  await adapter.open()
  const { runId } = 'runId' in lookup ? lookup : await findRun(adapter, lookup)
  const kept = await adapter.readAttempts({ runId, limit })
  if (kept.length > 0) return kept.map(runAttempt)
  const known = await adapter.readStatuses([runId], { stored: true })
  if (known.length === 0) throw unknownRun({ runId })
  return []
}

export function runAttempt(kept: KeptAttempt): RunAttempt {
  const { name, direction, round, attempt, workerId, startedAt, finishedAt, ended, error } = kept
  return {
    step: name,
    direction,
    round,
    attempt,
    workerId: workerId ?? undefined,
    startedAt: startedAt === null ? undefined : new Date(startedAt),
    finishedAt: new Date(finishedAt),
    ended,
    error: fromJsonText(error) as SerialisedError | undefined,
  }
}
