import { BelayError, define, defineGraph, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

interface Edit {
  readonly docId: string
  readonly text: string
}

const input = unchecked<Edit>()
const sync = define('sync', { version: 1, input, start: { debounce: '5s', key: 'docId', max: '1m' } }).step(
  'save',
  { run: ({ input }) => input.text },
)
const notify = define('notify', {
  version: 1,
  input,
  start: { throttle: '1m', key: ({ input }) => input.docId },
}).step('send', { run: ({ input }) => input.text })
const write = define('write', { version: 1, input, start: { batch: { max: 3, within: '1s' } } }).step(
  'insert',
  { run: ({ input }) => input.map(({ text }) => text) },
)

describe('collected starts', () => {
  it('a debounced workflow runs once, with the last input, and every handle gives its result', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [sync] })
    const handles = []
    for (const text of ['a', 'ab', 'abc']) {
      handles.push(await engine.run(sync, { docId: '7', text }))
      await clock.advance(1_000)
    }
    const [first, second, third] = handles

    expect(new Set(handles.map(({ id }) => id)).size).toBe(1)
    expect(handles.map(({ created }) => created)).toEqual([true, false, false])
    expect(first!.collected).toMatchObject({ by: 'debounce', joined: false, calls: 1 })
    expect(third!.collected).toMatchObject({ by: 'debounce', joined: true, calls: 3 })
    expect(third!.collected!.beginsAt.getTime()).toBe(clock.now() + 4_000)
    expect(await clock.runUntil(second!.result())).toEqual({ save: 'abc' })
  })

  it('a collecting run says how many calls it has, and until when it collects', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [sync] })
    const run = await engine.run(sync, { docId: '7', text: 'a' })
    await engine.run(sync, { docId: '7', text: 'b' })
    const until = new Date(clock.now() + 5_000).toISOString()

    expect((await run.explain()).sentence).toBe(
      `Run ${run.id} collects calls with key "7" (debounce, 2 calls so far), and is to start at ${until}.`,
    )
    expect(await engine.runs.get(run.id)).toMatchObject({
      status: 'scheduled',
      input: { docId: '7', text: 'b' },
      collected: { key: '7', calls: 2, collecting: true },
    })
    await clock.runUntil(run.result())
    expect((await run.status()).collected).toEqual({ key: '7', calls: 2, collecting: false })
  })

  it('a throttled workflow runs at once, and once at the end of the period', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [notify] })
    const first = await engine.run(notify, { docId: '7', text: 'a' })
    expect(await clock.runUntil(first.result(), { limit: '1s' })).toEqual({ send: 'a' })
    const second = await engine.run(notify, { docId: '7', text: 'b' })
    const third = await engine.run(notify, { docId: '7', text: 'c' })
    const other = await engine.run(notify, { docId: '8', text: 'd' })

    expect(third.id).toBe(second.id)
    expect(await clock.runUntil(other.result(), { limit: '1s' })).toEqual({ send: 'd' })
    await clock.advance(50_000)
    expect((await third.status()).status).toBe('scheduled')
    expect(await clock.runUntil(third.result(), { limit: '10s' })).toEqual({ send: 'c' })
  })

  it('a batch begins when it is full, or at its time, and gets the inputs in their order', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [write] })
    const texts = ['a', 'b', 'c', 'd']
    const handles = await Promise.all(texts.map((text) => engine.run(write, { docId: '1', text })))
    const [full, rest] = [handles[0]!, handles[3]!]

    expect(new Set(handles.map(({ id }) => id)).size).toBe(2)
    expect(await clock.runUntil(full.result(), { limit: '500ms' })).toEqual({ insert: ['a', 'b', 'c'] })
    expect((await rest.status()).status).toBe('scheduled')
    expect(await clock.runUntil(rest.result(), { limit: '2s' })).toEqual({ insert: ['d'] })
  })

  it('runMany() collects each of its runs', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [write] })
    const items = Array.from({ length: 7 }, (_, index) => ({ input: { docId: '1', text: `${index}` } }))
    const handles = await engine.runMany(write, items)

    const results = await clock.runUntil(Promise.all(handles.map((handle) => handle.result())))
    expect(results.map(({ insert }) => insert.join(''))).toEqual([
      '012',
      '012',
      '012',
      '345',
      '345',
      '345',
      '6',
    ])
  })

  it('a key makes a call count once; with another input it is refused', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [write] })
    const [one, two] = [
      { docId: '1', text: 'a' },
      { docId: '1', text: 'b' },
    ]
    const first = await engine.run(write, one, { key: 'event:1' })
    const again = await engine.run(write, one, { key: 'event:1' })
    await engine.run(write, two, { key: 'event:2' })

    expect(again).toMatchObject({ id: first.id, created: false })
    await expect(engine.run(write, two, { key: 'event:1' })).rejects.toMatchObject({
      code: 'key_conflict',
      runId: first.id,
    })
    expect(await clock.runUntil(first.result())).toEqual({ insert: ['a', 'b'] })
  })

  it('the answer of a call is lost: the call is sent again and counts once', async () => {
    const { adapter, clock, engine } = engines()
    const collect = adapter.collectCalls
    let lost = 0
    adapter.collectCalls = async (...given) => {
      const collected = await collect(...given)
      lost += 1
      if (lost === 1) throw new BelayError('store_unavailable', 'The connection was lost.')
      return collected
    }
    const caller = engine({ workflows: [write] })
    const running = caller.run(write, { docId: '1', text: 'a' })
    const run = await clock.runUntil(running)

    expect(lost).toBe(2)
    expect(run).toMatchObject({ created: true, collected: { calls: 1, joined: false } })
    expect((await run.status()).input).toEqual([{ docId: '1', text: 'a' }])
  })

  it('a rolled back transaction leaves no call behind, a committed one does', async () => {
    const { adapter, engine } = engines()
    const caller = engine({ workflows: [write] })
    const end = adapter.transaction(async (tx) => {
      await caller.run(write, { docId: '1', text: 'a' }, { tx })
      throw new Error('rolled back')
    })
    await expect(end).rejects.toThrow('rolled back')
    const run = await adapter.transaction(async (tx) => {
      await caller.runMany(write, [{ input: { docId: '1', text: 'b' } }], { tx })
      return caller.run(write, { docId: '1', text: 'c' }, { tx })
    })

    expect(run.collected).toMatchObject({ joined: true, calls: 2 })
    expect((await run.status()).input).toMatchObject([{ text: 'b' }, { text: 'c' }])
  })

  it('a call after a cancellation opens another run', async () => {
    const { engine } = engines()
    const caller = engine({ workflows: [sync] })
    const first = await caller.run(sync, { docId: '7', text: 'a' })
    await first.cancel()
    const second = await caller.run(sync, { docId: '7', text: 'b' })

    expect(second).toMatchObject({ created: true, collected: { calls: 1 } })
    expect(second.id).not.toBe(first.id)
  })

  it('each version collects by itself', async () => {
    const { engine } = engines()
    const newer = define('sync', { version: 2, input, start: { debounce: '5s', key: 'docId' } }).step(
      'save',
      {
        run: () => 2,
      },
    )
    const caller = engine({ workflows: [sync, newer] })
    const [one, two] = [
      await caller.run(sync, { docId: '7', text: 'a' }),
      await caller.run(newer, { docId: '7', text: 'b' }),
    ]
    expect(two).toMatchObject({ created: true, version: 2 })
    expect((await one.status()).input).toMatchObject({ text: 'a' })
  })

  it('a run with a single input cannot move to a version that takes batches', async () => {
    const { engine } = engines()
    const batches = define('sync', { version: 2, input, start: { batch: { max: 2, within: '1s' } } }).step(
      'save',
      { run: () => 2 },
    )
    const caller = engine({ workflows: [sync, batches] })
    const run = await caller.run(sync, { docId: '7', text: 'a' })
    await expect(caller.migrateRun(run.id, batches)).rejects.toThrow(
      'the run has a single input, and version 2 takes a batch',
    )
  })

  it('a graph as data collects, by a member of the input', async () => {
    const { clock, worker } = engines()
    const graph = defineGraph(
      'graph',
      {
        input: unchecked<{ order: { id: number } }>(),
        start: { batch: { max: 2, within: '1s' }, key: 'order.id' },
        steps: { a: { handler: 'show' } },
        dag: {},
      },
      { show: ({ input }: { input: unknown }) => JSON.stringify(input) },
    )
    const engine = await worker({ workflows: [graph] })
    const ids = [1, 2, 1]
    const handles = await Promise.all(ids.map((id) => engine.run(graph, { order: { id } })))

    expect(await clock.runUntil(handles[2]!.result())).toEqual({
      a: '[{"order":{"id":1}},{"order":{"id":1}}]',
    })
    expect(handles[0]!.id).toBe(handles[2]!.id)
    expect(await clock.runUntil(handles[1]!.result())).toEqual({ a: '[{"order":{"id":2}}]' })
  })

  it('a process without the definition cannot start it by name', async () => {
    const { engine } = engines()
    await engine({ workflows: [sync] }).run(sync, { docId: '7', text: 'a' })
    await expect(engine({ workflows: [] }).run('sync', { docId: '7', text: 'b' })).rejects.toMatchObject({
      code: 'unknown_workflow',
      message: expect.stringContaining('collects its starts (debounce)'),
    })
  })

  it('a child by name that collects its starts fails its step', async () => {
    const { clock, worker } = engines()
    const parent = define('parent', { version: 1 }).workflow('child', 'sync', {
      input: () => ({ docId: '1', text: 'a' }),
    })
    const engine = await worker({ workflows: [sync, parent] })
    const run = await engine.run(parent)
    await expect(clock.runUntil(run.result())).rejects.toThrow('collects its starts')
  })

  it.each([
    ['a start time', { startAt: new Date() }, 'startAt is'],
    ['a delay', { delay: '1s' }, 'delay is 1000, and workflow "sync" collects its starts'],
    ['a deadline', { deadline: '1h' }, 'set it in define()'],
  ] as const)('refuses %s, and starts nothing', async (_, options, message) => {
    const { engine } = engines()
    const caller = engine({ workflows: [sync] })
    const edit = { docId: '7', text: 'a' }
    const calls = [
      () => caller.run(sync, edit, options),
      () => caller.runMany(sync, [{ input: edit, ...options }]),
    ]
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining(message),
      })
    expect(await caller.runs.list()).toEqual([])
  })

  it.each([
    ['NUL', 'a\0', 'holds the character U+0000 at $.docId'],
    ['an unpaired surrogate', '\ud800', 'holds half of a surrogate pair at $.docId'],
    ['10,000 characters', 'x'.repeat(10_000), '10000 characters'],
    ['nothing', '', '0 characters'],
    ['no text', null, 'null'],
    ['a fraction', 1.5, '1.5'],
    ['a Date', new Date(0), '1970-01-01'],
    ['a bigint', 1n, '1n'],
    ['an object', {}, 'an object'],
  ])('refuses a key with %s, and starts nothing', async (_, docId, message) => {
    const { engine } = engines()
    const caller = engine({ workflows: [sync, notify] })
    for (const workflow of [sync, notify]) {
      // A bigint is refused as a payload.
      const call = caller.run(workflow, { docId, text: 'a' } as never)
      await expect(call).rejects.toSatisfy((error) => BelayError.is(error))
      if (typeof docId !== 'bigint') await expect(call).rejects.toThrow(message)
    }
    expect(await caller.runs.list()).toEqual([])
  })

  it('refuses an input without the member of the key, and a key function that throws', async () => {
    const { engine } = engines()
    const throws = define('throws', {
      version: 1,
      start: {
        debounce: 1_000,
        key: () => {
          throw new Error('no key')
        },
      },
    }).step('a', { run: () => 1 })
    const proto = define('proto', { version: 1, start: { debounce: 1_000, key: '__proto__' } }).step('a', {
      run: () => 1,
    })
    const caller = engine({ workflows: [sync, throws, proto] })
    await expect(caller.run(sync, { text: 'a' } as never)).rejects.toThrow('the input has no such member')
    await expect(caller.run(throws, {})).rejects.toThrow(
      'start.key of workflow "throws" threw for an input: no key.',
    )
    await expect(caller.run(proto, { a: 1 })).rejects.toThrow('the input has no such member')
  })
})
