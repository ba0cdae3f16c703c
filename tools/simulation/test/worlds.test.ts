import { simulate } from '@belay/testing/simulation'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStores, type Stores } from '../src/stores.ts'

const SEEDS = { postgres: 12, pglite: 8 } as const

describe.each(['postgres', 'pglite'] as const)('simulated worlds on %s', (name) => {
  let stores: Stores
  beforeAll(async () => {
    stores = await openStores(name)
  }, 60_000)
  afterAll(() => stores.close())

  it('hold every guarantee that they hold in memory', async () => {
    const broken: string[] = []
    for (let seed = 1; seed <= SEEDS[name]; seed += 1) {
      const { violations } = await simulate({ seed, store: stores.open })
      for (const violation of violations)
        broken.push(`${violation}; replay: npm run sim -- --store ${name} --seed ${seed} --trace`)
    }
    expect(broken).toEqual([])
  })

  it('are found out when the store forgets the claims of a lost answer', async () => {
    const violations: string[] = []
    for (let seed = 1; seed <= 40 && violations.length === 0; seed += 1) {
      const report = await simulate({
        seed,
        store: stores.open,
        sabotage: (store) => ({ ...store, held: async () => [] }),
      })
      violations.push(...report.violations)
    }
    expect(violations.join()).toMatch(/is stuck in/)
  })
})
