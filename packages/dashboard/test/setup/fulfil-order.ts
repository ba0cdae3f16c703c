import { define, PermanentError } from '@belay/workflow'

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
export const fulfil = (version: number) =>
  define('fulfil-order', { version })
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
