import type { Adapter } from '@belay/workflow/adapter'
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

it('the oracle notices a store in which a damaged run stops all claims', async () => {
  const found: string[] = []
  for (const seed of FENCED) {
    let isStopped = false
    const sabotage = (store: Adapter) =>
      withVerbs(store, {
        async claim(request) {
          if (isStopped) throw new Error('integer out of range')
          const claimed = await store.claim(request)
          isStopped = claimed !== 'lost' && claimed.claims.some(({ fence }) => fence > FENCE_MAX)
          return claimed
        },
      })
    found.push(...(await simulate({ seed, sabotage })).violations)
  }
  expect(found.join()).toMatch(/is stuck in (running|waiting)/)
})

const FENCE_MAX = 2_147_483_647

/** Worlds in which the fences of a run are as large as a store can keep. */
const FENCED = [78, 88, 108]
