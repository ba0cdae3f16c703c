import { simulate } from '@belay/testing/simulation'
import type { Adapter, Outcome } from '@belay/workflow/adapter'
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

  it('are found out when the store wakes what waits before its time', async () => {
    const violations: string[] = []
    for (let seed = 1; seed <= 20 && violations.length === 0; seed += 1) {
      const report = await simulate({ seed, store: stores.open, sabotage: inHaste })
      violations.push(...report.violations)
    }
    expect(violations.join()).toMatch(/waited \d+ ms, not \d+/)
  })
})

function inHaste(store: Adapter): Adapter {
  const hasty = (outcome: Outcome): Outcome => {
    const waits = outcome.type === 'waiting' && outcome.wake !== null && 'afterMs' in outcome.wake
    return waits ? { ...outcome, wake: { afterMs: 0 } } : outcome
  }
  return {
    ...store,
    settle: (settlement) => store.settle({ ...settlement, outcomes: settlement.outcomes.map(hasty) }),
  }
}
