import type { Engine, RunHandle } from '@belay/workflow'
import { vi } from 'vitest'
import { bank, fulfil, type Order } from '../../../cli/test/setup/fulfil-order.ts'
import { type TestStore, testStore } from './store.ts'

export const fulfilOrder = fulfil(3)

export const ORDERS = {
  'order:9182': { items: ['a', 'b', 'c'] },
  'order:9183': { items: ['a'], amount: 5_000 },
  'order:9184': { items: ['a', 'b', 'c'], route: 'express', courier: 'none' },
} as const satisfies Readonly<Record<string, Order>>

export type Key = keyof typeof ORDERS | 'order:9185'

export interface Shop extends TestStore {
  readonly worker: Engine
  readonly runs: Readonly<Record<Key, RunHandle>>
}

/** A shop whose orders stand still: 9182 waits for a signal, 9183 for an approval, 9184 was undone, and the undo of 9185 is parked. */
export async function shop(
  options: { readonly isShared?: boolean; readonly attempts?: 'keep' } = {},
): Promise<Shop> {
  const { isShared = false, ...engine } = options
  const store = await testStore({ isShared })
  const worker = store.engine({ workflows: [fulfilOrder], name: 'orders', ...engine })
  await worker.start()
  bank.refunds = 'open'
  const start = (key: string, order: Order) => worker.run(fulfilOrder, order, { key, tags: ['tenant:7'] })
  const runs: Record<string, RunHandle> = {}
  for (const [key, order] of Object.entries(ORDERS)) runs[key] = await start(key, order)
  await runs['order:9184']!.result().catch(() => {})
  bank.refunds = 'closed'
  runs['order:9185'] = await start('order:9185', ORDERS['order:9184'])
  await runs['order:9185'].result().catch(() => {})
  for (const key of ['order:9182', 'order:9183']) {
    await vi.waitFor(async () => {
      const { status } = (await worker.runs.get(runs[key]!.id))!
      if (status !== 'waiting') throw new Error(`${key} is ${status}`)
    }, 20_000)
  }
  return { ...store, worker, runs: runs as Shop['runs'] }
}
