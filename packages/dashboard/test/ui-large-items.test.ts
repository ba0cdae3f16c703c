import { define, PermanentError, type RunHandle } from '@belay/workflow'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ItemStatesPage, ItemsPage } from '../src/api.ts'
import type { DashboardHandler } from '../src/index.ts'
import { get, opened, read } from './setup/calls.ts'
import { testStore } from './setup/store.ts'

/** More than are read at a time on the way through a map. */
const ITEMS = 5_200
const FAILING: ReadonlySet<number> = new Set([3, 4, 5_100])

const ledger = define('ledger', { version: 1 }).map('post', {
  over: () => Array.from({ length: ITEMS }, (_, index) => index),
  retry: false,
  onFailure: 'collect',
  run: ({ item }) => {
    if (FAILING.has(item)) throw new PermanentError(`account ${item} is closed`)
    return item
  },
})

describe('the items of a large map', () => {
  let all: DashboardHandler
  let blind: DashboardHandler
  let run: RunHandle

  beforeAll(async () => {
    const store = await testStore({ isShared: true })
    const worker = store.engine({ workflows: [ledger], concurrency: 500 })
    await worker.start()
    run = await worker.run(ledger, {})
    await run.result()
    all = opened({ engine: worker })
    blind = opened({ engine: worker }, [])
  }, 120_000)

  test('those that failed are listed with their index and error, wherever they stand', async () => {
    const page = await read<ItemsPage>(all, `runs/${run.id}/items?map=post&failing=true`)
    expect(page.items.map(({ index, status, error }) => [index, status, error])).toEqual([
      [3, 'failed', 'PermanentError: account 3 is closed'],
      [4, 'failed', 'PermanentError: account 4 is closed'],
      [5_100, 'failed', 'PermanentError: account 5100 is closed'],
    ])
    expect(page.more).toBe(false)
    const later = await read<ItemsPage>(all, `runs/${run.id}/items?map=post&failing=true&after=4`)
    expect(later.items.map(({ index }) => index)).toEqual([5_100])
    const hidden = await read<ItemsPage>(blind, `runs/${run.id}/items?map=post&failing=true`)
    expect(hidden.items).toHaveLength(3)
    expect(JSON.stringify(hidden)).not.toContain('is closed')
  })

  test('the states of all items come as runs of equal ones', async () => {
    const { states } = await read<ItemStatesPage>(all, `runs/${run.id}/items/states?map=post`)
    expect(states).toEqual([
      ['completed', 3],
      ['failed', 2],
      ['completed', 5_095],
      ['failed', 1],
      ['completed', ITEMS - 5_101],
    ])
  })

  test('pages go on to the last item', async () => {
    const page = await read<ItemsPage>(all, `runs/${run.id}/items?map=post&after=${ITEMS - 52}`)
    expect([page.items.length, page.items[0]!.index, page.more]).toEqual([50, ITEMS - 51, true])
    const last = await read<ItemsPage>(all, `runs/${run.id}/items?map=post&after=${page.items.at(-1)!.index}`)
    expect([last.items.length, last.more]).toEqual([1, false])
  })

  test('what is asked wrongly is refused', async () => {
    expect((await get(all, `runs/${run.id}/items/states`)).status).toBe(400)
    expect((await get(all, `runs/${run.id}/items/states?map=nothing`)).status).toBe(400)
    expect((await get(all, `runs/${run.id}/items?map=post&failing=yes`)).status).toBe(400)
    expect((await get(all, `runs/${run.id}/items/states?map=post`, { method: 'PUT' })).status).toBe(405)
    expect((await get(all, 'runs/00000000-0000-7000-8000-000000000000/items/states?map=post')).status).toBe(
      404,
    )
  })
})
