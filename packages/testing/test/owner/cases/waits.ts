import assert from 'node:assert/strict'
import { say } from '../script.ts'
import type { OwnerCases } from './case.ts'

const WAITS = { a: { after: [] }, go: { after: ['a'], kind: 'signal' }, b: { after: ['go'] } } as const
const signal = { type: 'mail', path: ['go'], mail: {} } as const

export const waits: OwnerCases = {
  async 'a run that only waits is nobody’s, and mail wakes it'(given) {
    const code = await given.define('waits', WAITS)
    const worker = await given.worker('w')
    const other = await given.worker('other', { slots: 0 })

    const run = await given.startOne(code)
    await given.until(() => given.calls.length > 1 && worker.owner.owned.size === 0)
    const answer = await given.send(other, run, signal, { operates: false, payload: '{"n":1}' })
    await given.ended([run])

    assert.deepEqual(answer, { result: 'applied', answer: { result: 'delivered' } })
    assert.deepEqual(await given.output(run, 'go'), { n: 1 })
  },

  async 'a signal that comes early is kept'(given) {
    const code = await given.define('early', WAITS, { a: ({ input }) => given.hold(() => input) })
    const worker = await given.worker('w')

    const run = await given.startOne(code)
    await given.until(() => given.held === 1)
    const answer = await given.send(worker, run, signal, { payload: '2' })
    given.release()
    await given.ended([run])

    assert.deepEqual(answer, { result: 'applied', answer: { result: 'kept' } })
    assert.equal(await given.output(run, 'go'), 2)
  },

  async 'mail under a key that was sent before is not applied again'(given) {
    const code = await given.define('twice', WAITS)
    const worker = await given.worker('w')

    const run = await given.startOne(code)
    await given.until(() => given.callsOf('go', 'open').length === 1)
    const first = await given.send(worker, run, signal, { key: 'k', payload: '1' })
    const again = await given.send(worker, run, signal, { key: 'k', payload: '2' })
    await given.ended([run])

    assert.deepEqual([first.result, again.result], ['applied', 'duplicate'])
    assert.deepEqual(again, { result: 'duplicate', answer: { result: 'delivered' }, payload: '1' })
    assert.equal(await given.output(run, 'go'), 1)
  },

  async 'a signal is taken although no worker is alive'(given) {
    const code = await given.define('alone', WAITS)
    const first = await given.worker('w')
    const run = await given.startOne(code)
    await given.until(() => given.callsOf('go', 'open').length === 1)
    await given.stop(first)
    const operator = await given.worker('operator', { slots: 0 })

    const answer = await given.send(operator, run, signal, { operates: false })
    assert.deepEqual(given.called, ['a', 'go:open'])
    await given.worker('next')
    await given.ended([run])

    assert.deepEqual(answer, { result: 'applied', answer: { result: 'delivered' } })
  },

  async 'a signal to a run that has ended, or that there is not, is answered at once'(given) {
    const code = await given.define('over', { a: { after: [] } })
    const worker = await given.worker('w')
    const run = await given.startOne(code)
    await given.ended([run])

    const late = await given.send(worker, run, signal, { operates: false })
    const unknown = await given.send(worker, '01900000-0000-7000-8000-00000000dead', signal, {
      operates: false,
    })

    assert.deepEqual([late, unknown], [{ result: 'ended' }, { result: 'unknown' }])
  },

  async 'a long sleep frees the memory of its run, a short one does not'(given) {
    const sleeps = await given.define(
      'sleeps',
      {
        nap: { after: [], kind: 'sleep' },
        night: { after: ['nap'], kind: 'sleep' },
        b: { after: ['night'] },
      },
      {
        'nap:open': ({ ask }) => say({ due: given.now() + 300 * ask.serial }),
        'night:open': () => say({ due: given.now() + 2_500 }),
      },
    )
    const worker = await given.worker('w')

    const run = await given.startOne(sleeps)
    await given.until(() => given.callsOf('nap', 'open').length === 1)
    await given.pass(100)
    const inNap = worker.owner.owned.size
    await given.until(() => given.callsOf('night', 'open').length === 1)
    await given.until(() => worker.owner.owned.size === 0)
    await given.ended([run])

    assert.equal(inNap, 1)
    assert.deepEqual(given.called, ['nap:open', 'night:open', 'b'])
  },
}
