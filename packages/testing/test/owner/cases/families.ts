import assert from 'node:assert/strict'
import type { Code } from '../../../../workflow/src/owner/index.ts'
import { newId } from '../bench.ts'
import { type Handler, say } from '../script.ts'
import type { OwnerCases } from './case.ts'

const no = () => {
  throw new Error('no')
}

/** What the asker of a child’s `open` answers. */
const childOf =
  ({ definition, workflow, steps }: Code, ids: string[]): Handler =>
  () => {
    const id = newId()
    ids.push(id)
    return say({ child: { id, definition, workflow, steps, run: { key: null, input: '{}' } } as never })
  }

const PARENT = {
  a: { after: [], compensate: 'completed' },
  pay: { after: ['a'], kind: 'child', compensate: 'completed' },
  b: { after: ['pay'] },
} as const
const CHILD = { c: { after: [], compensate: 'completed' } } as const

export const families: OwnerCases = {
  async 'a parent goes on with what its child comes to'(given) {
    const ids: string[] = []
    const child = await given.define('child', CHILD, { c: () => ({ is: 'done' }) })
    const parent = await given.define('parent', PARENT, { 'pay:open': childOf(child, ids) })
    await given.worker('w')

    const run = await given.startOne(parent)
    await given.ended([run])

    assert.deepEqual(await given.statuses(ids), ['completed'])
    assert.deepEqual(await given.output(run, 'pay'), { c: { is: 'done' } })
    assert.deepEqual(given.called, ['a', 'pay:open', 'c', 'b'])
  },

  async 'the failure of a child is its parent’s'(given) {
    const ids: string[] = []
    const child = await given.define('child', { ...CHILD, d: { after: ['c'] } }, { d: no })
    const parent = await given.define('parent', PARENT, { 'pay:open': childOf(child, ids) })
    await given.worker('w')

    const run = await given.startOne(parent)
    await given.ended([run], 'compensated')

    assert.deepEqual(await given.statuses(ids), ['compensated'])
    assert.deepEqual(given.called, ['a', 'pay:open', 'c', 'd', 'c:undo', 'pay:undo', 'a:undo'])
  },

  async 'the undo of a parent undoes a child that has completed, in its place'(given) {
    const ids: string[] = []
    const child = await given.define('child', CHILD)
    const parent = await given.define('parent', PARENT, { 'pay:open': childOf(child, ids), b: no })
    await given.worker('w')
    await given.worker('other')

    const run = await given.startOne(parent)
    await given.ended([run], 'compensated')

    assert.deepEqual(await given.statuses(ids), ['cancelled'])
    assert.deepEqual(
      given.called.filter((name) => !name.includes('pay')),
      ['a', 'c', 'b', 'c:undo', 'a:undo'],
    )
  },

  async 'the cancelling of a parent cancels its child first'(given) {
    const ids: string[] = []
    const child = await given.define('child', { ...CHILD, go: { after: ['c'], kind: 'signal' } })
    const parent = await given.define('parent', PARENT, { 'pay:open': childOf(child, ids) })
    const worker = await given.worker('w')

    const run = await given.startOne(parent)
    await given.until(() => given.callsOf('go', 'open').length === 1)
    await given.send(worker, run, { type: 'cancel', compensate: true })
    await given.ended([run, ...ids], 'cancelled')

    assert.deepEqual(
      given.called.filter((name) => name.includes('undo')),
      ['pay:undo', 'c:undo', 'a:undo'],
    )
  },

  async 'a retried parent retries its child, which failed'(given) {
    const ids: string[] = []
    let isBad = true
    const child = await given.define('child', CHILD, { c: () => (isBad ? no() : 1) })
    const parent = await given.define('parent', PARENT, { 'pay:open': childOf(child, ids) })
    const worker = await given.worker('w')
    const run = await given.startOne(parent)
    await given.until(async () => (await given.peek(run)).finishedAt !== null)
    isBad = false

    await given.send(worker, run, { type: 'retry' })
    await given.ended([run])

    assert.equal((await given.statuses(ids)).at(-1), 'completed')
  },
}
