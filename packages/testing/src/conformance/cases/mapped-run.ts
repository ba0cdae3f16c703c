import { type Claim, itemNumber, type Outcome } from '@belay/workflow/adapter'
import type { CaseRun, CaseWorker, Scenario } from '../scenario/index.ts'

/** before → m[] → m → after */
const MAPPED = { before: [], 'm[]': ['before'], m: ['m[]'], after: ['m'] }
const KINDS = { 'm[]': 'map', m: 'join' } as const
export const [MAP, JOIN, AFTER] = [1, 2, 3]

export function item(index: number): number {
  return itemNumber(MAP, index)
}

/** A run whose map is claimable. */
export async function mapped(
  given: Scenario,
  options: Parameters<Scenario['start']>[1] = {},
): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const run = await given.start(await given.graph('mapped', MAPPED, 1, KINDS), options)
  const worker = await given.worker()
  await worker.complete(run, 'before')
  return { run, worker }
}

export async function expand(worker: CaseWorker, run: CaseRun, count: number, atOnce: number | null = null) {
  return worker.settle([expanded(await worker.claimOf(run, 'm[]'), count, atOnce)])
}

export function expanded(claim: Claim, count: number, atOnce: number | null = null): Outcome {
  const { runId, step, fence, direction, definitionId } = claim
  const items = Array.from({ length: count }, (_, n) => ({ key: `k${n}`, value: JSON.stringify({ n }) }))
  return { runId, step, fence, direction, definitionId, type: 'expanded', items, atOnce }
}

/** How many items have each status. */
export function statusesOf({
  steps,
}: Awaited<ReturnType<CaseRun['read']>>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { status } of steps.slice(AFTER + 1)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
