import { type Adapter, ENDS, type EndedRunsRequest } from '@belay/workflow/adapter'
import { type CaseRun, type Graph, PAIR, parked, type Scenario } from '../scenario/index.ts'

export const LATER = Date.UTC(2100, 0, 1)

/** Every ended run, unless the request narrows it. */
export function find(given: Scenario, request: Partial<EndedRunsRequest> = {}) {
  return given.adapter.findEnded({
    finishedBefore: LATER,
    statuses: ENDS,
    after: null,
    limit: 100,
    ...request,
  })
}

export function prune(adapter: Adapter, ...runs: readonly CaseRun[]): Promise<readonly string[]> {
  return adapter.prune({ runIds: runs.map(({ id }) => id), finishedBefore: LATER })
}

export async function single(given: Scenario): Promise<Graph> {
  return given.graph('single', { a: [] })
}

export async function completedRun(given: Scenario, graph: Graph, key?: string): Promise<CaseRun> {
  const run = await given.start(graph, key === undefined ? {} : { key })
  await (await given.worker()).complete(run, 'a')
  return run
}

export async function failedRun(given: Scenario, graph: Graph): Promise<CaseRun> {
  const run = await given.start(graph)
  await (await given.worker()).fail(run, 'a')
  const [drained] = await given.drain({ runs: [run] })
  await given.adapter.beginUndo([{ runId: drained!.runId, endsAs: 'failed', undos: [] }])
  return run
}

export async function cancelledRun(given: Scenario, graph: Graph): Promise<CaseRun> {
  const run = await given.start(graph)
  await given.cancel(run)
  await given.undo(run)
  return run
}

/** A run in which the undo of its first step failed for good. */
export async function parkedRun(
  given: Scenario,
  options: Parameters<Scenario['start']>[1] = {},
): Promise<CaseRun> {
  const run = await given.start(await given.graph('pair', PAIR), options)
  const worker = await given.worker()
  await worker.complete(run, 'a')
  await given.cancel(run)
  await given.undo(run)
  await worker.settle([parked(await worker.claimOf(run, 'a'))])
  return run
}
