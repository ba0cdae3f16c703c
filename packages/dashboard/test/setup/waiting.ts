import { define, type Engine } from '@belay/workflow'
import { vi } from 'vitest'
import { type TestStore, testStore } from './store.ts'

/** Standard Schema by hand: a payload with a number of euros. */
const euros = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof (value as { amount?: unknown } | null)?.amount === 'number'
        ? { value: value as { readonly amount: number } }
        : { issues: [{ message: 'Expected a number of euros', path: ['amount'] }] },
  },
} as const

export const HOSTILE = '<img src=x onerror=alert(1)>'

const expense = define('expense', { version: 1 })
  .approval('manager', { timeout: '2d', schema: euros })
  .approval('finance', {})
const parcel = define('parcel', { version: 1 }).waitForSignal('handedOver', { schema: euros, timeout: '1h' })
const hostile = define('hostile', { version: 1 }).approval('boss', {})

export interface Waits extends TestStore {
  readonly worker: Engine
  readonly ids: Readonly<Record<'expense:1' | 'parcel:1' | 'hostile', string>>
}

/** One run that waits for two decisions, one that waits for a signal, and one whose key is markup. */
export async function waits({ isShared = false } = {}): Promise<Waits> {
  const store = await testStore({ isShared })
  const worker = store.engine({ workflows: [expense, parcel, hostile], name: 'waits' })
  await worker.start()
  const ids = {
    'expense:1': (await worker.run(expense, undefined, { key: 'expense:1' })).id,
    'parcel:1': (await worker.run(parcel, undefined, { key: 'parcel:1' })).id,
    hostile: (await worker.run(hostile, undefined, { key: HOSTILE })).id,
  }
  await vi.waitFor(async () => {
    const [approvals, signals] = [await worker.approvals.pending(), await worker.signals.pending()]
    if (approvals.length + signals.length < 4) throw new Error('Not all of them wait yet.')
  }, 10_000)
  return { ...store, worker, ids }
}
