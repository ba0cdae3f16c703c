import assert from 'node:assert/strict'
import { Again, json, say } from '../script.ts'
import { type OwnerCases, times } from './case.ts'

const no = () => {
  throw new Error('no')
}

export const work: OwnerCases = {
  async 'a chain runs in order, each handler once, and its rows say so'(given) {
    const chain = await given.define(
      'chain',
      { a: { after: [] }, b: { after: ['a'] }, c: { after: ['b'] } },
      { c: ({ input }) => input },
    )
    await given.worker('w')

    const run = await given.startOne(chain, { input: '{"order":7}' })
    await given.ended([run])

    assert.deepEqual(given.called, ['a', 'b', 'c'])
    assert.deepEqual(await given.output(run, 'c'), { order: 7 })
    const rows = await given.rows(run)
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => [rows.get(name)!.status, rows.get(name)!.attempt]),
      times(3, () => ['completed', 1]),
    )
  },

  async 'what its own process starts begins without a claim'(given) {
    const chain = await given.define('own', { a: { after: [] }, b: { after: ['a'] } })
    const worker = await given.worker('w')
    await given.pass(50)
    const claims = worker.link.asked.get('claim')
    let goOn = () => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    worker.link.fault = (verb) => (verb === 'claim' ? held : undefined)

    const runs = await given.start(
      chain,
      times(5, () => ({})),
      { by: worker },
    )
    await given.ended(runs.map(({ id }) => id))
    goOn()

    assert.ok(claims !== undefined && given.calls.length === 10)
  },

  async 'steps that are ready run at once, as many as there are slots'(given) {
    const names = times(90, (index) => `s${index}`)
    const fan = await given.define(
      'fan',
      {
        first: { after: [] },
        ...Object.fromEntries(names.map((name) => [name, { after: ['first'] }])),
        last: { after: names },
      },
      Object.fromEntries(names.map((name) => [name, () => given.hold(() => 1)])),
    )
    await given.worker('w', { slots: 8 })

    const run = await given.startOne(fan)
    await given.until(() => given.held === 8)
    given.release()
    await given.ended([run])

    assert.equal(given.heldMost, 8)
    assert.equal(given.calls.length, 92)
    assert.equal(given.called.at(-1), 'last')
  },

  async 'a failure is undone in reverse order, once each'(given) {
    const saga = await given.define(
      'saga',
      {
        a: { after: [], compensate: 'completed' },
        b: { after: ['a'], compensate: 'completed' },
        c: { after: ['b'], compensate: 'completed' },
        d: { after: ['c'], compensate: 'completed' },
      },
      { d: no },
    )
    await given.worker('w')

    const run = await given.startOne(saga)
    await given.ended([run], 'compensated')

    assert.deepEqual(given.called, ['a', 'b', 'c', 'd', 'c:undo', 'b:undo', 'a:undo'])
    assert.equal((await given.peek(run)).cause?.includes('no'), true)
  },

  async 'a failure is tried again when it is due, and its row counts'(given) {
    const flaky = await given.define(
      'flaky',
      { a: { after: [] } },
      {
        a({ attempt }) {
          if (attempt < 3) throw new Again(50)
        },
      },
    )
    await given.worker('w')

    const run = await given.startOne(flaky)
    await given.ended([run])

    const row = (await given.rows(run)).get('a')!
    assert.deepEqual([given.calls.length, row.attempt, row.failures], [3, 3, 2])
    assert.deepEqual(
      given.calls.map(({ effect }) => effect === given.calls[0]!.effect),
      [true, true, true],
    )
  },

  async 'a map runs its items within its window, and gathers their outputs in order'(given) {
    const items = times(30, (index) => ({ key: String(index), item: json(index) }))
    const map = await given.define(
      'map',
      { pack: { after: [], kind: 'map', compensate: 'never' } },
      {
        'pack:open': () => say({ items, window: 5 }),
        'pack.*': ({ place }) => given.hold(() => json(place! * 2)),
      },
    )
    await given.worker('w')

    const run = await given.startOne(map)
    await given.until(() => given.held === 5)
    given.release()
    await given.ended([run])

    assert.equal(given.heldMost, 5)
    assert.deepEqual(
      await given.output(run, 'pack'),
      times(30, (index) => index * 2),
    )
  },

  async 'a loop goes round until it says that it has done'(given) {
    const loop = await given.define(
      'loop',
      { poll: { after: [], kind: 'repeat' } },
      {
        'poll.*': ({ place }) => say({ output: json(place), more: place! < 2 }),
      },
    )
    await given.worker('w')

    const run = await given.startOne(loop)
    await given.ended([run])

    assert.deepEqual(given.called.filter((name) => name === 'poll.*').length, 3)
    assert.equal(await given.output(run, 'poll'), 2)
  },

  async 'a loop gives what its last round gave, also if that is large'(given) {
    const large = 'x'.repeat(40_000)
    const loop = await given.define(
      'large',
      { poll: { after: [], kind: 'repeat' } },
      { 'poll.*': ({ place }) => say({ output: json(large), more: place! < 1 }) },
    )
    await given.worker('w')

    const run = await given.startOne(loop)
    await given.ended([run])

    assert.equal(await given.output(run, 'poll'), large)
  },

  async 'a loop past whose failure its run continues has the error of its round'(given) {
    const loop = await given.define(
      'continued',
      { poll: { after: [], kind: 'repeat', onFailure: 'continue' }, after: { after: ['poll'] } },
      {
        'poll.*': () => {
          throw new Error('broken')
        },
      },
    )
    await given.worker('w')

    const run = await given.startOne(loop)
    await given.ended([run])

    assert.deepEqual(await given.error(run, 'poll'), { message: 'broken' })
    assert.deepEqual(given.called.at(-1), 'after')
  },

  async 'a round that failed is skipped with an output, which is that of its loop'(given) {
    const loop = await given.define(
      'skipped round',
      { poll: { after: [], kind: 'repeat' } },
      {
        'poll.*': () => {
          throw new Error('broken')
        },
      },
    )
    const worker = await given.worker('w')
    const run = await given.startOne(loop)
    await given.until(async () => (await given.peek(run)).finishedAt !== null)

    await given.send(worker, run, { type: 'skipStep', path: ['poll', 0] }, { payload: '40' })
    await given.ended([run])

    assert.equal(await given.output(run, 'poll'), 40)
  },

  async 'a step that is not wanted is skipped, and what depends on it too'(given) {
    const branch = await given.define(
      'branch',
      { a: { after: [], when: 'function' }, b: { after: ['a'] }, c: { after: [] } },
      { 'a:decide': () => say({ yes: false }) },
    )
    await given.worker('w')

    const run = await given.startOne(branch)
    await given.ended([run])

    const rows = await given.rows(run)
    assert.deepEqual(
      [rows.get('a')!.status, rows.get('b')!.status, rows.get('c')!.status],
      ['skipped', 'skipped', 'completed'],
    )
    assert.deepEqual(given.callsOf('a'), [])
  },

  async 'a thousand runs on three workers end once each'(given) {
    const chain = await given.define('many', { a: { after: [] }, b: { after: ['a'] } })
    for (const name of ['one', 'two', 'three']) await given.worker(name)

    const runs = await given.start(
      chain,
      times(1_000, () => ({})),
    )
    await given.ended(runs.map(({ id }) => id))

    assert.equal(given.calls.length, 2_000)
    assert.equal(given.repeated.size, 0)
  },

  async 'a deadline stops a run, and its handler is told to end'(given) {
    const late = await given.define(
      'late',
      { a: { after: [], compensate: 'completed' }, b: { after: ['a'] } },
      { b: given.hang },
    )
    await given.worker('w')

    const run = await given.startOne(late, { deadlineMs: 300 })
    await given.ended([run], 'compensated')

    assert.deepEqual(given.called, ['a', 'b', 'a:undo'])
    assert.equal(given.callsOf('b')[0]!.signal.reason, 'aborted')
  },

  async 'a run that is to begin later waits, and begins in time'(given) {
    const chain = await given.define('later', { a: { after: [] } })
    await given.worker('w')

    const run = await given.startOne(chain, { startDelayMs: 700 })
    await given.pass(300)
    const before = given.calls.length
    await given.ended([run])

    assert.deepEqual([before, given.calls.length], [0, 1])
  },

  async 'a start in an open transaction holds nothing up, and begins once that commits'(given) {
    const chain = await given.define('within', { a: { after: [] } })
    await given.worker('w')
    let inside = ''

    await given.transaction(async (tx) => {
      const [started] = await given.start(chain, [{}], { tx })
      inside = started!.id
      await given.ended([await given.startOne(chain)])
      assert.equal(
        given.calls.some(({ run }) => run === inside),
        false,
      )
    })
    await given.ended([inside])

    assert.equal(given.calls.length, 2)
  },
}
