import { define, type Engine, unchecked } from '@belay/workflow'
import { vi } from 'vitest'
import { type TestStore, testStore } from './store.ts'
import { HOSTILE } from './waiting.ts'

/** Holds its slot until its worker stops. */
const charge = define('charge', { version: 1, input: unchecked<string>() }).step('call', {
  concurrency: { name: 'payments', limit: 2, key: ({ input }) => input },
  run: ({ signal }) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')))
    }),
})

export interface Limited extends TestStore {
  readonly worker: Engine
}

/** Two slots for each customer: six runs of one, three of another whose name is markup. */
export async function limited({ isShared = false } = {}): Promise<Limited> {
  const store = await testStore({ isShared })
  const worker = store.engine({ workflows: [charge], name: 'payments' })
  await worker.start()
  const customers = ['acme', 'acme', 'acme', 'acme', 'acme', 'acme', HOSTILE, HOSTILE, HOSTILE]
  for (const [index, customer] of customers.entries()) {
    await worker.run(charge, customer, { key: `charge:${index}` })
  }
  await vi.waitFor(async () => {
    const limit = await worker.limits.get('payments')
    if (limit?.waiting !== 5) throw new Error(`${limit?.waiting} wait.`)
  }, 20_000)
  return { ...store, worker }
}
