import assert from 'node:assert/strict'
import type { Verb } from '../link.ts'
import { type OwnerCases, times } from './case.ts'

const CHAIN = { a: { after: [] }, b: { after: ['a'] }, c: { after: ['b'] } } as const

/** Work goes on, a statement gets lost: each handler is called once, and each run ends. */
function lost(verb: Verb, when: 'before' | 'after'): OwnerCases[string] {
  return async (given) => {
    const handler = () => given.aWhile()
    const code = await given.define('chain', CHAIN, { a: handler, b: handler, c: handler })
    const worker = await given.worker('w')
    const runs = times(60, () => ({}))
    const isOwn = verb === 'start'
    const before = isOwn ? [] : await given.start(code, runs)
    if (!isOwn && verb !== 'claim') await given.until(() => given.calls.length > 0)

    const isLost = worker.link.loseNext(verb, when)
    const started = isOwn ? await given.awaiting(given.start(code, runs, { by: worker })) : before
    await given.awaiting(isLost)
    await given.ended(started.map(({ id }) => id))

    assert.equal(given.calls.length, 180)
    assert.equal(given.repeated.size, 0)
    assert.equal(worker.owner.identity.worker, given.firstIdentity(worker))
  }
}

export const lostAnswers: OwnerCases = {
  ...Object.fromEntries(
    (['claim', 'commit', 'start', 'renew', 'sweep', 'mailOf'] as const).flatMap((verb) => [
      [`${verb} that does not get there repeats nothing`, lost(verb, 'before')],
      [`${verb} whose answer is lost repeats nothing`, lost(verb, 'after')],
    ]),
  ),

  async 'a cancel whose commit is not answered tells handlers to end all the same, and none begins'(given) {
    const code = await given.define(
      'cancelled',
      { a: { after: [] }, b: { after: ['a'] }, c: { after: ['a'] } },
      { b: given.hang, c: given.hang },
    )
    const worker = await given.worker('w', { slots: 1 })
    const operator = await given.worker('operator', { slots: 0 })
    const run = await given.startOne(code)
    // The row of what is under way is written, so that the next commit is that of the cancel.
    await given.until(() => given.calls.length === 2)
    await given.pass(600)

    const isLost = worker.link.loseNext('commit', 'after')
    await given.send(operator, run, { type: 'cancel', compensate: true })
    await given.awaiting(isLost)
    await given.ended([run], 'cancelled')

    assert.equal(given.calls.length, 2)
    assert.equal(given.calls[1]!.signal.reason, 'aborted')
  },

  async 'a recovery whose own statements are lost goes on'(given) {
    const handler = () => given.aWhile()
    const code = await given.define('chain', CHAIN, { a: handler, b: handler, c: handler })
    const worker = await given.worker('w')
    const runs = await given.start(
      code,
      times(60, () => ({})),
    )
    await given.until(() => given.calls.length > 0)
    const left = new Map<Verb, number>([
      ['commit', 1],
      ['bump', 2],
      ['load', 2],
    ])
    worker.link.fault = (verb, when) => {
      const count = left.get(verb) ?? 0
      if (count === 0 || when !== 'after') return
      left.set(verb, count - 1)
      throw new Error(`lost after ${verb}`)
    }

    await given.ended(runs.map(({ id }) => id))

    assert.deepEqual([...left.values()], [0, 0, 0])
    assert.equal(given.calls.length, 180)
    assert.equal(given.repeated.size, 0)
  },

  async 'a statement that arrives after all was looked at is shut out'(given) {
    const code = await given.define('late', { a: { after: [] }, b: { after: ['a'] } })
    const worker = await given.worker('w')
    let arrive: () => void = () => {}
    let isHeld = false
    const held = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const { store } = given
    // Its sender gives it up, and it arrives all the same.
    worker.link.fault = (verb, when, [identity, members]) => {
      if (verb !== 'commit' || when !== 'before' || isHeld) return
      isHeld = true
      const late = held.then(() => store.commit(identity as never, members as never))
      given.keep(late)
      throw new Error('given up')
    }

    const run = await given.startOne(code)
    await given.ended([run])
    const before = await given.peek(run)
    arrive()
    const [answer] = await given.kept()

    assert.deepEqual(answer, { result: 'behind' })
    assert.deepEqual(await given.peek(run), before)
    assert.deepEqual(given.called, ['a', 'b'])
  },

  async 'a store that has lost commits is found out, and what it knows is done again'(given) {
    const code = await given.define('known', { a: { after: [] } }, { a: () => given.hold(() => 1) })
    const worker = await given.worker('w')
    const run = await given.startOne(code, {}, { by: worker })
    await given.until(() => given.held === 1)

    // Its row says that it is under way, so no commit is to come.
    await given.pass(600)
    // The worker is made to believe that the run was taken once more than the store knows.
    worker.owner.owned.get(run)!.fence += 1
    await given.until(() => worker.owner.owned.get(run)?.fence === 1)
    given.release()
    await given.ended([run])

    assert.equal(
      given.logged.some((line) => line.includes('may have lost commits')),
      true,
    )
    assert.deepEqual(given.called, ['a'])
  },
}
