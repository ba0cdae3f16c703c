import assert from 'node:assert/strict'
import type { MailEvent } from '../../../../workflow/src/owner/index.ts'
import type { Bench } from '../bench.ts'
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

  async 'a pause holds also what waits for a slot'(given) {
    const code = await given.define(
      'queued',
      { a: { after: [] }, b: { after: [] } },
      { a: () => given.hold(() => 1) },
    )
    const worker = await given.worker('w', { slots: 1 })
    const run = await given.startOne(code)
    await given.until(() => given.held === 1)

    await given.send(worker, run, { type: 'pause' })
    given.release()
    await given.pass(600)
    const paused = given.called.join()
    await given.send(worker, run, { type: 'resume' })
    await given.ended([run])

    assert.deepEqual([paused, given.called], ['a', ['a', 'b']])
  },

  async 'a run that nobody has begun is paused, and begins when it is resumed'(given) {
    const code = await given.define('unbegun', { a: { after: [] } })
    const operator = await given.worker('operator', { slots: 0 })
    const run = await given.startOne(code)

    await given.send(operator, run, { type: 'pause' })
    await given.worker('w')
    await given.pass(600)
    const paused = given.called.join()
    await given.send(operator, run, { type: 'resume' })
    await given.ended([run])

    assert.deepEqual([paused, given.called], ['', ['a']])
  },

  async 'a step that waits for a slot is skipped, and its handler is never called'(given) {
    const code = await given.define(
      'skipped',
      { a: { after: [] }, b: { after: [] }, c: { after: ['b'] } },
      { a: () => given.hold(() => 1) },
    )
    const worker = await given.worker('w', { slots: 1 })
    const run = await given.startOne(code)
    await given.until(() => given.held === 1)

    const running = await given.send(worker, run, { type: 'skipStep', path: ['a'] })
    const waiting = await given.send(worker, run, { type: 'retryStep', path: ['b'] })
    const skipped = await given.send(worker, run, { type: 'skipStep', path: ['b'] })
    given.release()
    await given.ended([run])

    assert.deepEqual([running, waiting, skipped].map(refusal), ['action_refused', undefined, undefined])
    assert.deepEqual(given.called, ['a', 'c'])
  },

  'a skip that is read with a cancel calls nothing that the cancel had stopped': (given) =>
    toldWithCancel(given, [{ type: 'skipStep', path: ['b'] }]),

  'a pause that is read with a cancel leaves nothing that its end would call': (given) =>
    toldWithCancel(given, [{ type: 'pause' }, { type: 'resume' }]),

  async 'a step of a run that nobody has begun is skipped without any worker'(given) {
    const code = await given.define('ahead', { a: { after: [] }, b: { after: ['a'] } })
    const operator = await given.worker('operator', { slots: 0 })
    const run = await given.startOne(code)

    const skipped = await given.send(operator, run, { type: 'skipStep', path: ['a'] })
    await given.worker('w')
    await given.ended([run])

    assert.equal(refusal(skipped), undefined)
    assert.deepEqual(given.called, ['b'])
  },

  async 'a deadline that passes in a pause stops the run once'(given) {
    const code = await given.define('late', WAITS)
    const worker = await given.worker('w')
    const run = await given.startOne(code, { deadlineMs: 300 })
    await given.until(() => given.callsOf('go', 'open').length === 1)
    await given.send(worker, run, { type: 'pause' })
    await given.until(async () => (await given.peek(run)).cause !== null)
    const commits = worker.link.asked.get('commit')!
    await given.pass(1_000)

    const later = worker.link.asked.get('commit')! - commits
    await given.send(worker, run, { type: 'resume' })
    await given.until(async () => (await given.peek(run)).finishedAt !== null)

    assert.equal(later <= 2, true)
    assert.deepEqual(given.called, ['a', 'go:open', 'a:undo'])
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

/** Of two steps one runs, and one waits for its slot. */
async function toldWithCancel(given: Bench, events: readonly MailEvent[]): Promise<void> {
  const code = await given.define(
    'stopped',
    { a: { after: [] }, b: { after: [] } },
    { a: () => given.hold(() => 1) },
  )
  await given.worker('w', { slots: 1 })
  const run = await given.startOne(code)
  await given.until(() => given.held === 1)

  const told: readonly MailEvent[] = [{ type: 'cancel', compensate: true }, ...events]
  await given.store.send(told.map((event, place) => ({ run, key: `${place}`, event: JSON.stringify(event) })))
  await given.until(async () => (await given.peek(run)).cause !== null)
  given.release()
  await given.ended([run], 'cancelled')

  assert.deepEqual(given.called, ['a'])
}
