import { define, type Engine } from '@belay/workflow'
import { expect, vi } from 'vitest'
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

export const EXPENSE = { amount: 420, purpose: 'a train to Bern', lines: ['ticket'] }

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
  const waiting = async (start: () => Promise<{ readonly id: string }>, count: number) => {
    const { id } = await start()
    await vi.waitFor(async () => {
      const pending = [...(await worker.approvals.pending()), ...(await worker.signals.pending())]
      expect(pending.filter(({ runId }) => runId === id)).toHaveLength(count)
    }, 20_000)
    return id
  }
  // One after the other: what has no time limit stands by how long it waits.
  const ids = {
    'expense:1': await waiting(() => worker.run(expense, EXPENSE, { key: 'expense:1', tags: ['team:4'] }), 2),
    'parcel:1': await waiting(() => worker.run(parcel, undefined, { key: 'parcel:1' }), 1),
    hostile: await waiting(() => worker.run(hostile, undefined, { key: HOSTILE }), 1),
  }
  return { ...store, worker, ids }
}
