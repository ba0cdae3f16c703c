import { randomUUID } from 'node:crypto'
import type { Adapter, DefinitionRecord, StepShape } from '@belay/workflow/adapter'
import { expect } from 'vitest'

/** A definition from its edges: each step's name with the names of its dependencies, in topological order. */
export function definitionOf(
  name: string,
  edges: Readonly<Record<string, readonly string[]>>,
  kinds: Readonly<Record<string, StepShape['kind']>> = {},
  facts: Readonly<Record<string, Partial<StepShape>>> = {},
): DefinitionRecord {
  const names = Object.keys(edges)
  const steps = names.map((step) => ({
    name: step,
    dependsOn: edges[step]!.map((dependency) => names.indexOf(dependency)),
    compensate: 'completed' as const,
    ...(kinds[step] === undefined ? {} : { kind: kinds[step] }),
    ...facts[step],
  }))
  return { name, version: 1, checksum: name, shape: { steps } }
}

const record = definitionOf('chain', { a: [], b: ['a'], c: ['b'] })

/** The smallest workflow that needs start, claim, settle and reading. */
export const chain = {
  record,
  async runThrough(adapter: Adapter): Promise<void> {
    const [definition] = await adapter.saveDefinitions([record])
    const [runId, workerId] = [randomUUID(), randomUUID()]
    const definitionId = definition!.id
    await adapter.startRuns([{ runId, definitionId, workflow: 'chain', key: null, input: '{"a":1}' }])
    await adapter.registerWorker({ workerId, name: 'worker', leaseMs: 60_000 })
    const claimed = await adapter.claim({ workerId, definitionIds: [definitionId], limit: 10 })
    if (claimed === 'lost') return expect.fail('The worker was lost.')
    let { claims } = claimed
    for (let step = 0; step < 3; step += 1) {
      expect(claims).toMatchObject([{ runId, step, fence: 1 }])
      const outcomes = claims.map((claim) => ({ ...claim, type: 'completed' as const, output: String(step) }))
      claims = (await adapter.settle({ workerId, outcomes, handBackMax: 10 })).claims
    }
    const read = await adapter.readRun(runId)
    expect(read).toMatchObject({ run: { status: 'completed', version: 1, input: '{"a":1}' } })
    expect(read?.steps.map(({ output }) => output)).toEqual(['0', '1', '2'])
    await adapter.deregisterWorker({ workerId })
  },
}
