import { isDeepStrictEqual } from 'node:util'
import type { Adapter } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { type MemoryAdapter, memory } from '../../src/index.ts'
import { simulate, verbsOf } from '../../src/simulation/index.ts'

const SEEDS = [1, 2, 3]

describe('a look at a memory store', () => {
  it.each(SEEDS)('shows what a copy of everything shows, after every call of world %i', async (seed) => {
    const [looks, stale]: [string[], string[]] = [[], []]
    const compared = (store: Adapter): Adapter => {
      const adapter = store as MemoryAdapter
      const calls = verbsOf(store).map((verb) => {
        const call = store[verb] as (...args: unknown[]) => Promise<unknown>
        const compare = async (...args: unknown[]) => {
          const answer = await call.apply(store, args)
          looks.push(verb)
          if (!isDeepStrictEqual(adapter.look(), adapter.dump())) stale.push(`after ${verb}`)
          return answer
        }
        return [verb, compare] as const
      })
      return { ...store, ...Object.fromEntries(calls) }
    }

    const { violations } = await simulate({ seed, sabotage: compared })

    expect(violations).toEqual([])
    expect(stale).toEqual([])
    expect(looks.length).toBeGreaterThan(200)
  })

  it('shows a run that has not changed as the same object', async () => {
    const adapter = memory()
    const [definition] = await adapter.saveDefinitions([
      { name: 'one', version: 1, checksum: 'one', shape: { steps: [STEP] } },
    ])
    const definitionId = definition!.id
    const runs = ['a', 'b'].map((key) => ({ runId: key, definitionId, workflow: 'one', key, input: null }))
    await adapter.startRuns(runs)
    const before = adapter.look().runs

    await adapter.cancelRuns({ runIds: ['b'], stop: 'cancellation', cause: '{}' })

    const after = adapter.look().runs
    expect(after[0]).toBe(before[0])
    expect(after[1]).not.toBe(before[1])
    expect(after[1]!.run.status).toBe('compensating')
  })
})

const STEP = { name: 'a', dependsOn: [], compensate: 'completed' as const }
