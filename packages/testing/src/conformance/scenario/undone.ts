import type { CaseRun } from './run.ts'
import type { Scenario } from './scenario.ts'
import type { CaseWorker } from './worker.ts'

/** s0 → s1 → s2, of which s2 failed, and whose undo has begun: s1 is next. */
export async function undoneChain(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const run = await given.chain(3)
  const worker = await given.worker()
  await worker.complete(run, 's0')
  await worker.complete(run, 's1')
  await worker.fail(run, 's2')
  await given.undo(run)
  return { run, worker }
}

/** Two steps that were undone beside each other, and one that failed after both. */
export async function undoneBranches(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const run = await given.start(await given.graph('branches', { a: [], b: [], c: ['a', 'b'] }))
  const worker = await given.worker()
  await worker.complete(run, 'a', 'b')
  await worker.fail(run, 'c')
  await given.undo(run)
  return { run, worker }
}
