import { define, type Engine, PermanentError, unchecked } from '@belay/workflow'
import { expect, vi } from 'vitest'
import { type TestStore, testStore } from './store.ts'

/** What an order of the tests is about. */
export interface OrderInput {
  /** Asks a person first. */
  readonly large?: boolean
  readonly route?: 'express' | 'post'
  /** No courier comes. */
  readonly stranded?: boolean
  /** The refund fails for good. */
  readonly closed?: boolean
}

/** The runs whose `printLabel` was skipped. A courier that refuses before, cancels it: both steps are due at once. */
const decided = new Set<string>()

/** The workflow of the transcripts. */
export const fulfilOrder = define('fulfil-order', { version: 3, input: unchecked<OrderInput>() })
  .step('checkFraud', { run: () => true })
  .approval('approveOrder', {
    dependsOn: ['checkFraud'],
    when: ({ input }) => input.large === true,
    timeout: '2d',
  })
  .step('reserveStock', { run: () => 'reserved', compensate: () => {} })
  .step('chargeCard', {
    dependsOn: ['approveOrder', 'reserveStock'],
    onSkipped: 'run',
    run: () => 'charge 7',
    compensate: {
      retry: false,
      run: ({ input }) => {
        if (input.closed) throw new Error('503 from payments.example: refunds are closed until 06:00')
      },
    },
  })
  .map('packItem', {
    dependsOn: ['chargeCard'],
    over: () => ['cup', 'lamp', 'rug'],
    concurrency: 20,
    run: ({ item }) => item,
    compensate: () => {},
  })
  .choose('route', { on: ({ input }) => input.route ?? 'post', cases: ['express', 'post'] })
  .step('bookCourier', {
    dependsOn: ['packItem'],
    when: { route: 'express' },
    run: async ({ input, runId }) => {
      if (!input.stranded) return 'courier'
      await vi.waitFor(() => expect(decided).toContain(runId), 20_000)
      throw new PermanentError('no courier before 2026-12-01')
    },
    compensate: () => {},
  })
  .step('printLabel', { dependsOn: ['packItem'], when: { route: 'post' }, run: () => 'label' })
  .waitForSignal('shipped', {
    dependsOn: ['bookCourier', 'printLabel'],
    onSkipped: 'run',
    timeout: '7d',
  })

export interface Orders extends TestStore {
  /** A worker. */
  readonly worker: Engine
  /** Starts an order, and waits until it rests: until it waits for a person, or has ended. */
  order(key: string, input: OrderInput): Promise<string>
}

/** A store with a worker that fulfils orders. */
export async function orders(): Promise<Orders> {
  const store = await testStore()
  const worker = store.engine({ workflows: [fulfilOrder] })
  worker.on('step.skipped', ({ runId, step }) => step === 'printLabel' && decided.add(runId))
  await worker.start()
  return {
    ...store,
    worker,
    async order(key, input) {
      const run = await worker.run(fulfilOrder, input, { key, tags: ['tenant:7'] })
      for await (const change of run.watch()) {
        if (change.type === 'run' && change.status === 'waiting') break
      }
      return run.id
    },
  }
}
