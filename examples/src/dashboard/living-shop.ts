import { createEngine, type Engine } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { fulfilOrder, importCities, type Order, syncPrices } from './workflows.ts'

const EVERY_MS = 4_000

/** A shop that goes on by itself: an order each four seconds, of which some fail and are undone, until the returned function is called. */
export async function openShop(
  adapter: Adapter,
): Promise<{ readonly engine: Engine; close(): Promise<void> }> {
  const engine = createEngine({
    adapter,
    workflows: [fulfilOrder, importCities, syncPrices],
    schedules: [{ name: 'sync-prices', workflow: syncPrices, every: '1m', input: undefined }],
    attempts: 'keep',
    name: 'shop',
    // Orders fail here on purpose, and the browser shows it.
    logger: false,
  })
  await engine.start()
  let number = 9_180
  const order = async (order: Partial<Order>) => {
    number += 1
    const items = ['book', 'lamp', 'chair', 'mug', 'rug', 'clock'].slice(0, 2 + (number % 5))
    const input = { items, amount: 40, isRemote: false, isTooOld: false, ...order }
    await engine.run(fulfilOrder, input, { key: `order:${number}`, tags: [`customer:${number % 7}`] })
  }
  await engine.run(importCities, undefined, { key: `cities:${Date.now()}` })
  // The first minute shows everything: an undo, one that is parked, and an approval.
  await order({ isRemote: true })
  await order({ isRemote: true, isTooOld: true })
  await order({ amount: 5_000 })
  const timer = setInterval(() => {
    const isRemote = number % 3 === 0
    void order({ isRemote, isTooOld: isRemote && number % 12 === 0, amount: number % 10 === 0 ? 2_500 : 40 })
  }, EVERY_MS)
  return {
    engine,
    async close() {
      clearInterval(timer)
      await engine.close({ timeout: 0 })
    },
  }
}
