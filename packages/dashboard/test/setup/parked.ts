import { define, type Engine, PermanentError } from '@belay/workflow'
import { type TestStore, testStore } from './store.ts'

export const HOSTILE = '<img src=x onerror=alert(1)>'

/** Whether the bank gives money back, and how often it was asked. */
export const refunds = { open: false, asked: 0 }

const fail = () => {
  throw new PermanentError('no courier')
}

const refund = (message: string) => {
  refunds.asked += 1
  if (!refunds.open) throw Object.assign(new PermanentError(message), { code: 'REFUND_CLOSED' })
}

const order = define('order', { version: 3 })
  .step('reserve', { run: () => 1, compensate: () => {} })
  .step('charge', {
    dependsOn: ['reserve'],
    run: () => 2,
    compensate: { retry: false, run: ({ input }) => refund(String(input)) },
  })
  .step('ship', { dependsOn: ['charge'], retry: false, run: fail })

const parcels = define('parcels', { version: 1 })
  .map('each', {
    over: () => ['a', 'b', 'c'],
    run: ({ item }) => item,
    compensate: {
      retry: false,
      run: ({ item }) => (item === 'b' ? undefined : refund('refunds are closed')),
    },
  })
  .step('ship', { dependsOn: ['each'], retry: false, run: fail })

export interface Parked extends TestStore {
  readonly worker: Engine
  /** By key. */
  readonly ids: Readonly<Record<string, string>>
}

/** So many orders whose refund failed with one error, one with another error and key (`hostile`: markup), and if `items` a map of which two items are parked. */
export async function parked(
  orders: number,
  { items = false, hostile = HOSTILE, isShared = false } = {},
): Promise<Parked> {
  Object.assign(refunds, { open: false, asked: 0 })
  const store = await testStore({ isShared })
  const worker = store.engine({ workflows: [order, parcels], name: 'orders', concurrency: 20 })
  await worker.start()
  const runs = [
    ...(await worker.runMany(
      order,
      Array.from({ length: orders }, (_, n) => ({ input: 'refunds are closed', key: `order:${n}` })),
    )),
    await worker.run(order, hostile, { key: hostile }),
    ...(items ? [await worker.run(parcels, undefined, { key: 'parcels:1' })] : []),
  ]
  await Promise.all(runs.map((run) => run.result().catch(() => {})))
  const stored = await worker.runs.list({ status: 'compensation_failed', limit: 1_000 })
  return { ...store, worker, ids: Object.fromEntries(stored.map(({ id, key }) => [key!, id])) }
}
