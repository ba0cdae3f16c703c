import { define, PermanentError, unchecked } from '@belay/workflow'
import { pause } from './pause.ts'

/** What an order brings about. */
export interface Order {
  readonly items: readonly string[]
  /** From 1,000 on a person approves it. */
  readonly amount: number
  /** No courier comes: the order is undone. */
  readonly isRemote: boolean
  /** The bank takes no money back: its undo is parked. */
  readonly isTooOld: boolean
}

export const fulfilOrder = define('fulfil-order', { version: 3, input: unchecked<Order>() })
  .step('reserveStock', {
    run: ({ signal }) => pause(900, signal),
    compensate: ({ signal }) => pause(1_100, signal),
  })
  .step('checkFraud', {
    retry: { attempts: 3, initial: '600ms' },
    run: async ({ signal, attempt }) => {
      await pause(700, signal)
      if (attempt === 1 && Math.random() < 0.3) throw new Error('No answer within 2.5 s')
    },
  })
  .approval('approveOrder', {
    dependsOn: ['checkFraud'],
    timeout: '2d',
    when: ({ input }) => input.amount >= 1_000,
  })
  .step('chargeCard', {
    dependsOn: ['reserveStock', 'approveOrder'],
    onSkipped: 'run',
    run: ({ signal }) => pause(1_200, signal),
    compensate: {
      retry: { attempts: 3, initial: '800ms' },
      run: async ({ signal, input }) => {
        await pause(900, signal)
        if (input.isTooOld) throw new Error('The refund window is closed (PSP-4410)')
      },
    },
  })
  .map('packItem', {
    dependsOn: ['chargeCard'],
    over: ({ input }) => [...input.items],
    concurrency: 4,
    run: ({ signal }) => pause(800, signal),
    compensate: ({ signal }) => pause(400, signal),
  })
  .step('notifyWarehouse', {
    dependsOn: ['packItem'],
    run: ({ signal }) => pause(2_500, signal),
    compensate: ({ signal }) => pause(700, signal),
  })
  .step('bookCourier', {
    dependsOn: ['packItem'],
    retry: { attempts: 3, initial: '700ms', jitter: false },
    run: async ({ signal, input }) => {
      await pause(500, signal)
      if (input.isRemote) throw new Error('No capacity in zone 8')
    },
    compensate: ({ signal }) => pause(600, signal),
  })
  .step('sendTracking', {
    dependsOn: ['notifyWarehouse', 'bookCourier'],
    run: ({ signal }) => pause(300, signal),
  })

export const importCities = define('import-cities', { version: 7 })
  .step('download', { run: ({ signal }) => pause(1_500, signal), compensate: () => {} })
  .map('importCity', {
    dependsOn: ['download'],
    over: () => Array.from({ length: 400 }, (_, index) => `city ${index + 1}`),
    concurrency: 20,
    onFailure: 'collect',
    retry: { attempts: 2, initial: '2s' },
    run: async ({ signal, index }) => {
      await pause(1_500, signal)
      if (index % 23 === 7) throw new PermanentError('The quota for this region is used up')
    },
    compensate: () => {},
  })
  .step('publish', { dependsOn: ['importCity'], run: ({ signal }) => pause(800, signal) })

export const syncPrices = define('sync-prices', { version: 1 }).step('fetch', {
  run: ({ signal }) => pause(700, signal),
})
