import { define, type Engine, PermanentError, type RunHandle } from '@belay/workflow'
import { vi } from 'vitest'
import { type TestStore, testStore } from './store.ts'
import { HOSTILE } from './waiting.ts'

/** What the items below ask: closed, items fail. */
export const world = { geocoder: 'closed', refunds: 'closed' }

const cities = Array.from({ length: 60 }, (_, index) => (index === 9 ? HOSTILE : String(index)))
const QUOTA: ReadonlySet<number> = new Set([4, 5, 6, 7, 30])

/** Five items wait an hour for their next attempt, and two fail with other errors. */
const importing = define('import-cities', { version: 1 }).map('importCity', {
  over: () => cities,
  itemKey: (city) => city,
  retry: { attempts: 5, initial: '1h', max: '1h' },
  run: ({ item, index }) => {
    if (world.geocoder === 'closed' && QUOTA.has(index)) throw new Error('quota exceeded for region')
    if (item === HOSTILE) throw new Error(`${HOSTILE} is no city`)
    return item
  },
})

const posts = {
  over: () => [0, 1, 2, 3, 4, 5],
  retry: false,
  run: ({ item }: { readonly item: number }) => {
    if (item % 2 === 1) throw new PermanentError('account is closed')
    return item
  },
} as const

/** Past its pivot a run waits for an operator. */
const posting = define('post-accounts', { version: 1 })
  .step('open', { pivot: true, run: () => 1 })
  .map('post', { ...posts, dependsOn: ['open'] })

/** The map goes on without those that fail. */
const collecting = define('collect-accounts', { version: 1 })
  .map('post', { ...posts, onFailure: 'collect' })
  .sleep('rest', { dependsOn: ['post'], for: '1h' })

const undoing = define('undo-accounts', { version: 1 })
  .map('post', {
    over: () => [0, 1, 2, 3, 4, 5],
    run: ({ item }) => item,
    compensate: {
      retry: false,
      run: ({ output }) => {
        if (world.refunds === 'closed' && output % 2 === 1) throw new Error('refund window closed')
      },
    },
  })
  .step('check', { dependsOn: ['post'], retry: false, run: () => Promise.reject(new PermanentError('no')) })

const failing = define('fail-accounts', { version: 1 }).map('post', posts)

export interface Mapped extends TestStore {
  readonly worker: Engine
  readonly runs: Readonly<Record<'importing' | 'posting' | 'collecting' | 'undoing' | 'failing', RunHandle>>
}

/** A run for each way in which items of a map fail. */
export async function mapped(): Promise<Mapped> {
  Object.assign(world, { geocoder: 'closed', refunds: 'closed' })
  const store = await testStore({ isShared: true })
  const workflows = [importing, posting, collecting, undoing, failing]
  const worker = store.engine({ workflows, name: 'maps', concurrency: 20 })
  await worker.start()
  const runs = {
    importing: await worker.run(importing, {}, { key: 'cities' }),
    posting: await worker.run(posting, {}),
    collecting: await worker.run(collecting, {}),
    undoing: await worker.run(undoing, {}),
    failing: await worker.run(failing, {}),
  }
  await stands(worker, runs.importing, 'importCity', { completed: 54, ready: 6 })
  await stands(worker, runs.posting, 'post', { completed: 3, failed: 3 })
  await stands(worker, runs.collecting, 'post', { completed: 3, failed: 3 })
  await stands(worker, runs.undoing, 'post', { compensated: 3, compensation_failed: 3 })
  await runs.failing.result().catch(() => {})
  return { ...store, worker, runs }
}

/** Waits until the items of a map are in these states, each that is ready after a failure. */
export async function stands(
  engine: Engine,
  { id }: RunHandle,
  map: string,
  statuses: Readonly<Record<string, number>>,
): Promise<void> {
  await vi.waitFor(async () => {
    const run = (await engine.runs.get(id))!
    const settled = run.steps.every(({ status, failures }) => status !== 'ready' || failures > 0)
    const now = JSON.stringify(Object.entries(run.maps[map]?.statuses ?? {}).toSorted())
    if (!settled || now !== JSON.stringify(Object.entries(statuses).toSorted())) throw new Error(now)
  }, 20_000)
}
