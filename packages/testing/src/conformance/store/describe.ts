import { commits } from './cases/commits.ts'
import { mail } from './cases/mail.ts'
import { owners } from './cases/owners.ts'
import { starts } from './cases/starts.ts'
import type { StoreHarness } from './harness.ts'
import { type StoreCases, StoreScenario } from './scenario.ts'

const CASES: StoreCases = { ...starts, ...owners, ...commits, ...mail }

interface Runner {
  it(name: string, run: () => Promise<void>): void
}

/** Runs every case on a store of its own. */
export function describeStore(harness: StoreHarness, { it }: Runner): void {
  for (const [name, run] of Object.entries(CASES)) {
    it(name, async () => {
      const opened = await harness.open()
      try {
        const given = new StoreScenario(opened)
        await given.define()
        await run(given)
      } finally {
        await opened.close()
      }
    })
  }
}
