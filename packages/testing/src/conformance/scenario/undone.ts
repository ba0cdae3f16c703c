import type { CaseRun } from './run.ts'
import type { Scenario } from './scenario.ts'
import type { CaseWorker } from './worker.ts'

/** A run of s0 → s1 → s2 whose undo has begun because s2 failed: s1 is next. */
export async function undoneChain(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const run = await given.chain(3)
  const worker = await given.worker()
  await worker.complete(run, 's0')
  await worker.complete(run, 's1')
  await worker.fail(run, 's2')
  await given.undo(run)
  return { run, worker }
}

/** Two independent steps that were undone because a step after both failed. */
export async function undoneBranches(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const run = await given.start(await given.graph('branches', { a: [], b: [], c: ['a', 'b'] }))
  const worker = await given.worker()
  await worker.complete(run, 'a', 'b')
  await worker.fail(run, 'c')
  await given.undo(run)
  return { run, worker }
}
