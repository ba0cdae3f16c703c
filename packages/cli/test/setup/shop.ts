import { define, PermanentError, type RunHandle } from '@belay/workflow'
import { vi } from 'vitest'
import { type TestStore, testStore } from './store.ts'

/** What an order makes happen. */
export interface Order {
  readonly items: readonly string[]
  /** An order of this amount or more waits for an approval. */
  readonly amount?: number
  readonly route?: 'express' | 'post'
  /** No courier comes: the run fails and is undone. */
  readonly courier?: 'none'
}

/** The outside world: whether the bank gives money back. */
export const bank = { refunds: 'open' as 'open' | 'closed' }

const quick = { initial: '20ms', max: '20ms', jitter: false } as const

/** The workflow of the documentation. */
export const fulfilOrder = define('fulfil-order', { version: 3 })
  .step('checkFraud', { run: ({ input }: { input: unknown }) => (input as Order).items.length })
  .approval('approveOrder', {
    dependsOn: ['checkFraud'],
    timeout: '2d',
    when: ({ input }) => ((input as Order).amount ?? 0) >= 1_000,
  })
  .step('reserveStock', { dependsOn: ['checkFraud'], run: () => 'reservation 7', compensate: () => {} })
  .step('chargeCard', {
    dependsOn: ['approveOrder', 'reserveStock'],
    onSkipped: 'run',
    run: () => 'charge 9',
    compensate: {
      retry: false,
      run: () => {
        if (bank.refunds === 'closed')
          throw new PermanentError('503 from payments.example: refunds are closed until 06:00')
      },
    },
  })
  .map('packItem', {
    dependsOn: ['chargeCard'],
    over: ({ input }) => [...(input as Order).items],
    run: ({ item }) => `packed ${item}`,
    compensate: () => {},
  })
  .choose('route', {
    dependsOn: ['packItem'],
    cases: ['express', 'post'],
    on: ({ input }) => (input as Order).route ?? 'post',
  })
  .step('bookCourier', {
    dependsOn: ['route'],
    when: { route: 'express' },
    retry: { ...quick, attempts: 3 },
    run: ({ input }) => {
      if ((input as Order).courier === 'none') throw new Error('no courier before 2026-12-01')
      return 'courier 4'
    },
    compensate: () => {},
  })
  .step('printLabel', { dependsOn: ['route'], when: { route: 'post' }, run: () => 'label 2' })
  .waitForSignal('shipped', { dependsOn: ['bookCourier', 'printLabel'], onSkipped: 'run', timeout: '7d' })

/** Orders of the documentation: what their runs do. */
export const ORDERS = {
  'order:9182': { items: ['a', 'b', 'c'] },
  'order:9183': { items: ['a'], amount: 5_000 },
  'order:9184': { items: ['a', 'b', 'c'], route: 'express', courier: 'none' },
} as const satisfies Readonly<Record<string, Order>>

export interface Shop extends TestStore {
  readonly runs: Readonly<Record<keyof typeof ORDERS | 'order:9185', RunHandle>>
}

/** A shop whose orders stand still: 9182 waits for a signal, 9183 for an approval, 9184 was undone, and the undo of 9185 is parked. */
export async function shop(options: { readonly isShared?: boolean } = {}): Promise<Shop> {
  const store = await testStore(options)
  const worker = store.engine({ workflows: [fulfilOrder], name: 'orders' })
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
    }, 10_000)
  }
  return { ...store, runs: runs as Shop['runs'] }
}
