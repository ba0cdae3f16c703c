import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { databaseOver, slowed } from '../database.ts'
import { fulfilOrder } from '../order/fulfil-order.ts'
import { openShop } from '../order/shop/index.ts'
import type { WorkerOrders, WorkerSettings } from './crew.ts'

// The terminal sends Ctrl-C to this process, too. But the tour decides when it ends.
process.on('SIGINT', () => {})
// The tour has ended, by whatever cause.
process.on('disconnect', () => process.exit())

process.once('message', (settings: WorkerSettings) => {
  work(settings).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})

/** Works until it is told to stop. */
async function work({ url, name, lease, paceMs, silentMs }: WorkerSettings): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 4, application_name: name })
  pool.on('error', () => {})
  const shop = openShop(slowed(databaseOver(pool), paceMs), { silentMs })
  const engine = createEngine({
    adapter: postgres(url),
    workflows: [fulfilOrder(shop)],
    name: `${name}, process ${process.pid}`,
    concurrency: 4,
    lease,
  })
  await engine.start()
  process.send?.('working')
  process.on('message', async (orders: WorkerOrders) => {
    if (orders !== 'stop') return
    await engine.close({ timeout: '100ms' })
    process.exit()
  })
}
