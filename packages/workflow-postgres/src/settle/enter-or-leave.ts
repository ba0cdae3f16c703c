import type { ChangedRun, Claim, KeepsAttempts } from '@belay/workflow/adapter'
import { sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { cancel } from '../rows/stop-runs.ts'
import { type Entered, type EnteringOutcome, enter } from './enter-limits.ts'
import { finish } from './finish-attempts.ts'

/** Whether an attempt may end without a slot instead of waiting for one. */
export function mayLeave({ entries }: EnteringOutcome): boolean {
  return entries.some(({ ifFull }) => ifFull !== undefined)
}

/**
 * Gives attempts their slots, and records what the full entries of the others say, in one transaction: nobody ever sees a step that is neither parked
 * nor skipped. Locks: as entering, then, with the keys held, as skipping steps and as cancelling runs. Nobody who has locked a run waits for a key
 * longer than half a second.
 */
export function enterOrLeave(
  connection: Connection,
  request: KeepsAttempts & {
    readonly workerId: string
    readonly outcomes: readonly EnteringOutcome[]
    readonly handBackMax: number
  },
): Promise<Entered & { readonly claims: readonly Claim[]; readonly runs: readonly ChangedRun[] }> {
  return connection.transaction(async (transaction) => {
    const entered = await enter(transaction, request)
    const { claims, runs, queued } = await skip(transaction, request, entered)
    const cancelled = await cancelFull(transaction, request, entered)
    return { ...entered, claims, runs: [...runs, ...cancelled], queued: entered.queued || queued }
  })
}

async function skip(
  transaction: Connection,
  { workerId, outcomes, handBackMax, keepAttempts }: Parameters<typeof enterOrLeave>[1],
  { full }: Entered,
) {
  const skipped = full.flatMap(({ index, entry }) => {
    if (entry.of === 'run') return []
    const { entries: _, ...ref } = outcomes[index]!
    return [{ ...ref, type: 'skipped' as const, branch: entry.ifFull! }]
  })
  if (skipped.length === 0) return { claims: [], runs: [], queued: false }
  return finish(transaction, { workerId, outcomes: skipped, handBackMax, keepAttempts })
}

/** Runs with the same cause are cancelled at once. */
async function cancelFull(
  transaction: Connection,
  { outcomes }: Parameters<typeof enterOrLeave>[1],
  { full }: Entered,
): Promise<readonly ChangedRun[]> {
  const byCause = new Map<string, string[]>()
  for (const { index, entry } of full) {
    if (entry.of === 'step') continue
    const { runId } = outcomes[index]!
    const runIds = byCause.get(entry.ifFull!)
    if (runIds === undefined) byCause.set(entry.ifFull!, [runId])
    else if (!runIds.includes(runId)) runIds.push(runId)
  }
  const runs: ChangedRun[] = []
  for (const [cause, runIds] of byCause) {
    runs.push(...(await cancel(transaction, { runIds, cause }, runIds, sharedLockWait)))
  }
  return runs
}
