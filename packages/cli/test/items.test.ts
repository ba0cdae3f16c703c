import { define, PermanentError } from '@belay/workflow'
import { beforeAll, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { type TestStore, testStore } from './setup/store.ts'

const ITEMS = 30

/** Every tenth order cannot be packed; the run goes on without them. */
const basket = define('basket', { version: 1 }).map('pack', {
  over: () => Array.from({ length: ITEMS }, (_, index) => index),
  itemKey: (item) => `order-${item}`,
  onFailure: 'collect',
  run: ({ item }) => {
    if (item % 10 === 9) throw new PermanentError(`no box for ${item}`)
    return item
  },
})

/** Undos of these items fail for good. */
const shelf = define('shelf', { version: 1 })
  .map('place', {
    over: () => ['a', 'b', 'c'],
    itemKey: (item) => item,
    run: () => 1,
    compensate: {
      retry: false,
      run: ({ item }) => {
        if (item !== 'b') throw new PermanentError('stuck')
      },
    },
  })
  .step('close', { dependsOn: ['place'], run: () => Promise.reject(new PermanentError('jammed')) })

let env: TestStore['env']

beforeAll(async () => {
  const store = await testStore({ isShared: true })
  env = store.env
  const engine = store.engine({ workflows: [basket, shelf] })
  await engine.start()
  await (await engine.run(basket, undefined, { key: 'b:1' })).result()
  const parked = await engine.run(shelf, undefined, { key: 's:1' })
  // It settles once the undo is parked.
  await parked.result().catch(() => {})
})

it('the items of a map are listed with keys and the names of errors, a page at a time', async () => {
  const first = await belay(['items', 'b:1', 'pack'], { env, columns: 80 })
  const rest = await belay(['items', 'b:1', 'pack', '--after', '19'], { env })

  const lines = first.stdout.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^STATUS +INDEX +KEY +ATTEMPTS +TOOK +ERROR$/)
  expect(lines).toHaveLength(21)
  expect(lines[10]).toMatch(/^× failed +9 +order-9 +1 .*PermanentError$/)
  expect(first.stderr).toBe(
    'pack has 30 items: 27 completed, 3 failed.\nMore: belay items b:1 pack --after 19\n',
  )
  expect(rest.stdout.trimEnd().split('\n')).toHaveLength(10)
  expect(rest.stderr).toBe('pack has 30 items: 27 completed, 3 failed.\n')
})

it('items are found by their status, and their messages only with --payloads', async () => {
  const argv = ['items', 'b:1', 'pack', '--status', 'failed', '--json']

  const failed = await belay(argv, { env })
  const two = await belay([...argv, '--limit', '2'], { env })
  const payloads = await belay([...argv, '--payloads'], { env })

  expect(JSON.parse(failed.stdout)).toMatchObject({
    map: 'pack',
    items: ITEMS,
    statuses: { completed: 27, failed: 3 },
    listed: [9, 19, 29].map((index) => ({
      status: 'failed',
      index,
      key: `order-${index}`,
      step: `pack[order-${index}]`,
      error: 'PermanentError',
    })),
    next: null,
  })
  expect(failed.stdout).not.toContain('no box')
  expect(JSON.parse(two.stdout)).toMatchObject({ next: 19 })
  expect(payloads.stdout).toContain('PermanentError: no box for 9')
})

it('what is no map, or no status of an item, is named', async () => {
  const map = await belay(['items', 'b:1', 'pck'], { env })
  const status = await belay(['items', 'b:1', 'pack', '--status', 'parked'], { env })

  expect([map.status, map.stderr]).toEqual([2, expect.stringContaining('Did you mean "pack"?')])
  expect([status.status, status.stderr]).toEqual([2, expect.stringContaining('no item is ever "parked"')])
})

it('undos of items are parked undos: undo retry without a step finds them', async () => {
  const dry = await belay(['undo', 'skip', '--workflow', 'shelf', '--dry-run', '--json'], { env })
  const parked = await belay(['items', 's:1', 'place', '--status', 'undo-parked', '--fields', 'key'], { env })
  const failed = await belay(['items', 's:1', 'place', '--status', 'failed', '--fields', 'key'], { env })
  const done = await belay(
    ['undo', 'skip', '--workflow', 'shelf', '--reason', 'by hand', '--yes', '--json'],
    { env },
  )
  const ended = await belay(['list', '--key', 's:1', '--fields', 'status'], { env })

  expect(JSON.parse(dry.stdout)).toMatchObject({ matched: 1, changed: 1, refused: [] })
  expect([parked.stdout, failed.stdout]).toEqual(['a\nc\n', 'a\nc\n'])
  expect(JSON.parse(done.stdout)).toMatchObject({ matched: 1, changed: 1, refused: [] })
  expect(ended.stdout).toBe('compensated\n')
})
