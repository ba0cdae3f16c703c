import { describe, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { Bench } from './bench.ts'
import { ownerCases } from './cases/index.ts'

function bench(): Bench {
  const clock = new VirtualClock()
  const store = memoryStore({ clock })
  return new Bench({
    ...{ store, clock, transaction: store.transaction },
    leaseMs: 1_000,
    pass: (ms) => clock.advance(ms),
    close: () => store.close(),
  })
}

describe.each(Object.entries(ownerCases))('owners over the store in memory: %s', (_, cases) => {
  it.each(Object.entries(cases))('%s', async (_name, act) => {
    const given = bench()
    try {
      await act(given)
    } finally {
      await given.close()
    }
  })
})
