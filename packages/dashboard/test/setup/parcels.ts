import { define, type Engine } from '@belay/workflow'
import { vi } from 'vitest'
import { type TestStore, testStore } from './store.ts'

export const HOSTILE = '<img src=x onerror=alert(1)>'

const from = (version: number) =>
  define('parcel', { version })
    .step('pack', { run: () => 'packed', compensate: () => {} })
    .waitForSignal('fetched', { dependsOn: ['pack'] })

/** Runs of the first one wait for `fetched`; what follows it differs. */
const parcel1 = from(1)
  .step('weigh', { dependsOn: ['fetched'], run: () => 1 })
  .step('bill', { dependsOn: ['weigh'], run: () => 'billed' })
export const parcel2 = from(2)
  .step('inspect', { dependsOn: ['fetched'], run: () => 'fine' })
  .step('photograph', { dependsOn: ['inspect'], run: () => 'fine' })
  .step('bill', { dependsOn: ['inspect'], run: () => 'billed', compensate: () => {} })

export interface Parcels extends TestStore {
  readonly worker: Engine
  readonly ids: Readonly<Record<string, string>>
}

/** Three parcels of version 1 that wait, of which the first has a hostile key; one of it and one of version 2 that completed. */
export async function parcels(options: { readonly isShared?: boolean } = {}): Promise<Parcels> {
  const store = await testStore(options)
  const worker = store.engine({ workflows: [parcel1, parcel2], name: 'post' })
  await worker.start()
  const ids: Record<string, string> = {}
  for (const key of [HOSTILE, 'parcel:1', 'parcel:2', 'old'])
    ids[key] = (await worker.run(parcel1, undefined, { key })).id
  ids['new'] = (await worker.run(parcel2, undefined, { key: 'new' })).id
  for (const key of ['old', 'new']) await worker.signal(ids[key]!, 'fetched')
  await vi.waitFor(async () => {
    const [waiting, completed] = await Promise.all([
      worker.runs.count({ status: 'waiting' }),
      worker.runs.count({ status: 'completed' }),
    ])
    if (waiting.count !== 3 || completed.count !== 2) throw new Error('They are under way.')
  }, 20_000)
  return { ...store, worker, ids }
}
