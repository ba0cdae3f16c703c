import { createEngine, type Engine, type NamedSchedule, type WorkflowDefinition } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { returnParcel, returnParcelInspected, sendInvoices } from './back-office.ts'
import { fulfilOrder, importCities, type Order, syncPrices } from './workflows.ts'

const EVERY_MS = 4_000

/** What the shop can run, and to which versions its runs may be moved. */
export const WORKFLOWS: readonly WorkflowDefinition[] = [
  fulfilOrder,
  importCities,
  syncPrices,
  sendInvoices,
  returnParcel,
  returnParcelInspected,
]

const [berlin, newYork] = ['Europe/Berlin', 'America/New_York']
const SCHEDULES: readonly NamedSchedule[] = [
  { name: 'sync-prices', workflow: syncPrices, every: '1m' },
  { name: 'nightly-invoices', workflow: sendInvoices, cron: '30 2 * * *', timeZone: berlin },
  { name: 'import-cities', workflow: importCities, cron: '0 */6 * * *', timeZone: newYork },
]

/** A shop that goes on by itself: an order each four seconds, of which some fail and are undone, until the returned function is called. */
export async function openShop(
  adapter: Adapter,
): Promise<{ readonly engine: Engine; close(): Promise<void> }> {
  const engine = createEngine({
    adapter,
    workflows: WORKFLOWS,
    schedules: SCHEDULES,
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
  // The first minute shows everything: an undo, some that are parked, and an approval.
  await order({ isRemote: true })
  await order({ isRemote: true, isTooOld: true })
  await order({ amount: 5_000 })
  await order({ isRemote: true, isTooOld: true })
  await openBackOffice(engine)
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

/** Lines before a limit, parcels that are waited for, two versions of their workflow, and a schedule that somebody has paused. */
async function openBackOffice(engine: Engine): Promise<void> {
  await engine.run(sendInvoices, undefined, { key: 'invoices:today' })
  for (const parcel of [1, 2, 3]) {
    await engine.run(returnParcel, { order: `order:${parcel}` }, { key: `return:${parcel}` })
  }
  await engine.run(returnParcelInspected, { order: 'order:4' }, { key: 'return:4' })
  await engine.schedules.pause('import-cities', { reason: 'The atlas moves house until Monday' })
}
