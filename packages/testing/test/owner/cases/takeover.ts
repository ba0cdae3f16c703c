import assert from 'node:assert/strict'
import { KILLS_MAX } from '../script.ts'
import { type OwnerCases, times } from './case.ts'

const CHAIN = { a: { after: [], compensate: 'completed' }, b: { after: ['a'] } } as const

export const takeover: OwnerCases = {
  async 'what a dead worker had begun is called again, and what had ended is not'(given) {
    let isFirst = true
    const code = await given.define('taken', CHAIN, { b: (call) => (isFirst ? given.hang(call) : 1) })
    const first = await given.worker('first')
    const runs = (
      await given.start(
        code,
        times(30, () => ({})),
      )
    ).map(({ id }) => id)
    await given.until(() => given.callsOf('b').length === 20)
    await given.pass(50)

    first.crash()
    isFirst = false
    await given.worker('second')
    await given.ended(runs)

    assert.equal(given.callsOf('a').length, 30)
    const again = given.callsOf('b').filter(({ worker }) => worker === 'second')
    assert.equal(again.length, 30)
    const doubted = again.filter(({ losses }) => losses === 1)
    assert.deepEqual(
      doubted.map(({ attempt }) => attempt),
      times(doubted.length, () => 2),
    )
    assert.equal(doubted.length >= 20, true)
  },

  async 'a step that kills its workers is poison, and those beside it are not'(given) {
    let killed = 0
    const workers = new Map<string, { crash(): void }>()
    const code = await given.define('kills', CHAIN, {
      b(call) {
        if ((call.input as { kills?: true }).kills !== true) return given.aWhile()
        killed += 1
        workers.get(call.worker)!.crash()
        return given.hang(call)
      },
    })
    const runs = (
      await given.start(
        code,
        times(40, (index) => ({ input: index === 20 ? '{"kills":true}' : '{}' })),
      )
    ).map(({ id }) => id)
    const killer = runs[20]!

    for (let life = 0; life <= KILLS_MAX; life += 1) {
      const name = `life ${life}`
      const before = killed
      workers.set(name, await given.worker(name))
      if (life < KILLS_MAX + 1)
        await given.until(
          async () => killed > before || (await given.statuses([killer]))[0] === 'compensated',
        )
    }
    await given.worker('last')
    await given.ended([killer], 'compensated')
    await given.ended(runs.filter((run) => run !== killer))

    assert.equal(killed, KILLS_MAX + 1)
    assert.equal((await given.peek(killer)).cause?.includes('poison'), true)
  },

  async 'a worker that is cut off begins nothing once its lease is over, and writes nothing'(given) {
    const code = await given.define('cut', CHAIN, {
      a: (call) => (call.worker === 'cut' ? given.hold(() => 1) : 1),
    })
    const cut = await given.worker('cut')
    const runs = (
      await given.start(
        code,
        times(5, () => ({})),
      )
    ).map(({ id }) => id)
    await given.until(() => given.held === 5)
    const silent = given.silence(cut)
    const cutAt = given.now()

    const second = await given.worker('second')
    given.release()
    await given.ended(runs)
    const ended = await Promise.all(runs.map((run) => given.peek(run)))
    silent.end()
    await given.pass(3 * given.leaseMs)

    assert.deepEqual(
      given.callsOf('b').map(({ worker }) => worker),
      times(5, () => 'second'),
    )
    assert.deepEqual(await Promise.all(runs.map((run) => given.peek(run))), ended)
    assert.equal(given.now() - cutAt > given.leaseMs, true)
    assert.equal(second.owner.owned.size, 0)
  },

  async 'a worker that was declared dead comes back as another one, and works on'(given) {
    const code = await given.define('reborn', CHAIN)
    const worker = await given.worker('w')
    const identity = worker.owner.identity.worker
    const silent = given.silence(worker)
    await given.pass(2 * given.leaseMs)
    const other = await given.worker('other', { slots: 0 })
    await given.awaiting(given.store.sweep())
    silent.end()

    await given.until(() => worker.owner.identity.worker !== identity)
    const run = await given.startOne(code)
    await given.ended([run])

    assert.notEqual(worker.owner.identity.worker, other.owner.identity.worker)
    assert.equal(given.repeated.size, 0)
  },

  async 'a worker that stops gives its runs away, and loses no attempt'(given) {
    const code = await given.define('stops', CHAIN, {
      b: (call) => (call.worker === 'first' ? given.hang(call) : 1),
    })
    const first = await given.worker('first')
    const runs = (
      await given.start(
        code,
        times(10, () => ({})),
      )
    ).map(({ id }) => id)
    await given.until(() => given.callsOf('b').length === 10)

    await given.stop(first)
    const between = await Promise.all(runs.map((run) => given.peek(run)))
    await given.worker('second')
    await given.ended(runs)

    assert.deepEqual(
      between.map(({ lost }) => lost),
      times(10, () => false),
    )
    assert.equal(given.callsOf('a').length, 10)
    assert.deepEqual(
      given
        .callsOf('b')
        .slice(10)
        .map(({ worker, losses }) => [worker, losses]),
      times(10, () => ['second', 0]),
    )
    assert.deepEqual(
      given
        .callsOf('b')
        .slice(0, 10)
        .map(({ signal }) => signal.reason),
      times(10, () => 'stopping'),
    )
  },

  async 'a worker that stops lets handlers end before it tells them to'(given) {
    const code = await given.define('ends', CHAIN, { b: () => given.hold(() => 1) })
    const first = await given.worker('first')
    const run = await given.startOne(code)
    await given.until(() => given.held === 1)

    const stopped = given.stop(first, 5_000)
    await given.pass(200)
    given.release()
    await stopped
    await given.worker('second')
    await given.ended([run])

    assert.equal(given.callsOf('b').length, 1)
    assert.equal(given.callsOf('b')[0]!.signal.aborted, false)
  },

  async 'what ignores that it is told to end is called again by the next worker, and is not lost'(given) {
    const code = await given.define('deaf', CHAIN, {
      b: (call) => (call.worker === 'first' ? given.hold(() => 1) : 1),
    })
    const first = await given.worker('first')
    const run = await given.startOne(code)
    await given.until(() => given.held === 1)

    await given.stop(first)
    const between = await given.peek(run)
    await given.worker('second')
    await given.ended([run])
    given.release()

    const [last] = given.callsOf('b').slice(1)
    assert.deepEqual([between.lost, last!.worker, last!.attempt, last!.losses], [false, 'second', 2, 0])
  },

  async 'runs behind slow handlers go to a worker that has slots'(given) {
    const code = await given.define(
      'slow',
      { a: { after: [] } },
      { a: (call) => (call.worker === 'slow' ? given.hang(call) : 1) },
    )
    const slow = await given.worker('slow', { slots: 2 })
    const runs = (
      await given.start(
        code,
        times(8, () => ({})),
        { by: slow },
      )
    ).map(({ id }) => id)
    await given.until(() => given.calls.length === 2)

    await given.worker('free')
    const quick = runs.filter(
      (run) => !given.calls.some((call) => call.run === run && call.worker === 'slow'),
    )
    await given.ended(quick)

    assert.equal(quick.length, 6)
    assert.deepEqual(await given.statuses(runs.filter((run) => !quick.includes(run))), ['running', 'running'])
  },
}
