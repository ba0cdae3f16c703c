import { expect, it } from 'vitest'
import { simulate } from '../../src/simulation/index.ts'
import { withVerbs } from './sabotage.ts'

/** Only worlds of seeds that end in 8 have a damaged run. In these it is damaged in each way. */
const SEEDS = [8, 18, 78]

it('worlds with a damaged run end all other runs', async () => {
  const ways = new Set<string>()
  for (const seed of SEEDS) {
    const { calls, violations } = await simulate({ seed })
    expect(violations).toEqual([])
    for (const call of Object.keys(calls)) if (call.startsWith('damage')) ways.add(call)
  }
  expect([...ways].sort()).toEqual(['damage: deadline', 'damage: fence', 'damage: missing row'])
})

it('a world with a damaged run is the same each time', async () => {
  const [first, second] = [await simulate({ seed: 18 }), await simulate({ seed: 18 })]
  expect(second).toEqual(first)
})

it('the oracle notices a store in which a damaged run keeps others from being undone', async () => {
  const sabotage: NonNullable<Parameters<typeof simulate>[0]['sabotage']> = (store) =>
    withVerbs(store, {
      // Whoever looks for stopped runs meets the damaged one, and fails.
      drain: async (request) => {
        const drained = await store.drain(request)
        if (drained.some(({ steps }) => steps.some(({ step }, index) => step < 65_536 && step !== index)))
          throw new Error('damaged')
        return []
      },
    })
  const { violations } = await simulate({ seed: 18, sabotage })
  expect(violations.join()).toMatch(/is stuck in compensating/)
})
