import assert from 'node:assert/strict'
import type { OwnerCases } from './case.ts'

const no = () => {
  throw new Error('no')
}
const WAITS = { a: { after: [], compensate: 'completed' }, go: { after: ['a'], kind: 'signal' } } as const
const refusal = (answer: unknown) =>
  (answer as { answer?: { refused?: { code: string } } }).answer?.refused?.code

export const operators: OwnerCases = {
  async 'a run that nobody owns is cancelled without any worker, and undone by the next one'(given) {
    const code = await given.define('cancelled', WAITS)
    const first = await given.worker('w')
    const run = await given.startOne(code)
    await given.until(() => given.callsOf('go', 'open').length === 1)
    await given.stop(first)
    const operator = await given.worker('operator', { slots: 0 })

    const answer = await given.send(operator, run, { type: 'cancel', compensate: true, reason: 'enough' })
    const between = (await given.peek(run)).status
    await given.until(() => operator.owner.owned.size === 0)
    await given.worker('next')
    await given.ended([run], 'cancelled')

    assert.equal(refusal(answer), undefined)
    assert.equal(between, 'compensating')
    assert.deepEqual(given.called, ['a', 'go:open', 'a:undo'])
  },

  async 'a run that a worker owns is cancelled by mail, and its handler is told to end'(given) {
    const code = await given.define(
      'owned',
      { a: { after: [], compensate: 'completed' }, b: { after: ['a'] } },
      { b: given.hang },
    )
    await given.worker('w')
    const operator = await given.worker('operator', { slots: 0 })
    const run = await given.startOne(code)
    await given.until(() => given.callsOf('b').length === 1)

    await given.send(operator, run, { type: 'cancel', compensate: true })
    await given.ended([run], 'cancelled')

    assert.equal(given.callsOf('b')[0]!.signal.reason, 'aborted')
    assert.deepEqual(given.called, ['a', 'b', 'a:undo'])
  },

  async 'a pause holds what is ready, and a resume lets it begin'(given) {
    const code = await given.define(
      'paused',
      { a: { after: [] }, b: { after: ['a'] } },
      { a: () => given.hold(() => 1) },
    )
    const worker = await given.worker('w')
    const run = await given.startOne(code)
    await given.until(() => given.held === 1)

    await given.send(worker, run, { type: 'pause' })
    given.release()
    await given.pass(600)
    const paused = [(await given.peek(run)).status, given.called.join()]
    await given.send(worker, run, { type: 'resume' })
    await given.ended([run])

    assert.deepEqual(paused, ['paused', 'a'])
    assert.deepEqual(given.called, ['a', 'b'])
  },

  async 'a run that has failed goes on when it is retried'(given) {
    let isBad = true
    const code = await given.define(
      'retried',
      { a: { after: [] }, b: { after: ['a'] } },
      { b: () => (isBad ? no() : 1) },
    )
    const worker = await given.worker('w')
    const run = await given.startOne(code)
    await given.until(async () => (await given.peek(run)).finishedAt !== null)
    const failed = (await given.peek(run)).status
    isBad = false

    const answer = await given.send(worker, run, { type: 'retry' })
    await given.ended([run])

    assert.equal(refusal(answer), undefined)
    assert.equal(failed, 'failed')
    assert.equal((await given.rows(run)).get('b')!.status, 'completed')
  },

  async 'a run that has ended refuses, and stays ended'(given) {
    const code = await given.define('ended', { a: { after: [] } })
    const worker = await given.worker('w')
    const run = await given.startOne(code)
    await given.ended([run])
    const before = await given.peek(run)

    const answer = await given.send(worker, run, { type: 'retry' })
    await given.pass(500)

    assert.notEqual(refusal(answer), undefined)
    const after = await given.peek(run)
    assert.deepEqual(
      [after.status, after.finishedAt, worker.owner.owned.size],
      ['completed', before.finishedAt, 0],
    )
    assert.deepEqual(
      await given.send(worker, run, { type: 'mail', path: ['a'], mail: {} }, { operates: false }),
      { result: 'ended' },
    )
  },

  async 'a parked step is skipped by its name, and its run goes on'(given) {
    const code = await given.define(
      'parked',
      { pay: { after: [], pivot: true }, ship: { after: ['pay'] }, tell: { after: ['ship'] } },
      { ship: no },
    )
    const worker = await given.worker('w')
    const run = await given.startOne(code)
    await given.until(async () => (await given.peek(run)).parked)

    const unknown = await given.send(worker, run, { type: 'skipStep', path: ['shop'] })
    const answer = await given.send(worker, run, { type: 'retryStep', path: ['ship'] })
    await given.until(() => given.callsOf('ship').length === 2)
    await given.until(async () => (await given.peek(run)).parked)

    assert.equal(refusal(unknown), 'invalid_option')
    assert.equal(refusal(answer), undefined)
    assert.equal(given.callsOf('tell').length, 0)
  },
}
