import { simulate } from '@belay/testing/simulation'
import type { Adapter, Outcome } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStores } from '../src/open-stores.ts'
import type { Stores } from '../src/stores.ts'

// CI simulates more of them: its stages simulation-postgres and simulation-pglite.
const SEEDS = { postgres: 1, pglite: 1 } as const

describe.each(['postgres', 'pglite'] as const)('simulated worlds on %s', (name) => {
  let stores: Stores
  beforeAll(async () => {
    stores = await openStores(name)
  })
  afterAll(() => stores.close())

  it('keep every guarantee that they keep in memory', async () => {
    const broken: string[] = []
    for (let seed = 1; seed <= SEEDS[name]; seed += 1) {
      const { violations } = await simulate({ seed, store: stores.open })
      for (const violation of violations)
        broken.push(`${violation}; replay: npm run sim -- --store ${name} --seed ${seed} --trace`)
    }
    expect(broken).toEqual([])
  })

  it('are reported when the store keeps another output than it was given', async () => {
    const violations: string[] = []
    for (let seed = 1; seed <= 10 && violations.length === 0; seed += 1) {
      const report = await simulate({ seed, store: stores.open, sabotage: forgetful })
      violations.push(...report.violations)
    }
    expect(violations.join()).toMatch(/output of \S+ is null, not/)
  })
})

function forgetful(store: Adapter): Adapter {
  const forgotten = (outcome: Outcome): Outcome =>
    outcome.type === 'completed' ? { ...outcome, output: null } : outcome
  return {
    ...store,
    settle: (settlement) => store.settle({ ...settlement, outcomes: settlement.outcomes.map(forgotten) }),
  }
}
