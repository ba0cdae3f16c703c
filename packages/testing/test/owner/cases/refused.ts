import assert from 'node:assert/strict'
import type { Member } from '@belay/workflow/store'
import { Json } from '../../../../workflow/src/owner/index.ts'
import { RefusedFault } from '../link.ts'
import { type OwnerCases, times } from './case.ts'

const UNDONE = { a: { after: [], compensate: 'completed' }, b: { after: ['a'] } } as const

export const refused: OwnerCases = {
  async 'an output that the store refuses fails its step, which is undone; the runs of the same commit end'(
    given,
  ) {
    const code = await given.define('bad', UNDONE, {
      a: ({ input }) =>
        given.aWhile().then(() => ((input as { bad?: true }).bad === true ? new Json('{"not":') : 1)),
    })
    await given.worker('w', { slots: 200 })

    const runs = await given.start(
      code,
      times(200, (index) => ({ input: index === 77 ? '{"bad":true}' : '{}' })),
    )
    const bad = runs[77]!.id
    await given.ended(runs.filter(({ id }) => id !== bad).map(({ id }) => id))
    await given.ended([bad], 'compensated')

    assert.deepEqual(
      given.calls.filter(({ run }) => run === bad).map(({ phase }) => phase),
      ['run', 'undo'],
    )
    assert.equal(given.calls.length, 199 * 2 + 2)
    assert.equal((await given.peek(bad)).cause?.includes('cannot be stored'), true)
  },

  async 'a run whose commit is refused otherwise keeps its outcomes and tries later; the others end'(given) {
    const code = await given.define('held', UNDONE, { a: () => given.aWhile() })
    const worker = await given.worker('w', { slots: 200 })
    const runs = await given.start(
      code,
      times(50, () => ({})),
    )
    const held = runs[7]!.id
    let refusals = 0
    worker.link.fault = (verb, when, [, members]) => {
      if (verb !== 'commit' || when !== 'before' || refusals >= 20) return
      if (!(members as readonly Member[]).some(({ run }) => run === held)) return
      refusals += 1
      throw new RefusedFault('other')
    }

    await given.ended(runs.filter(({ id }) => id !== held).map(({ id }) => id))
    const isAlone = (await given.peek(held)).status
    refusals = 20
    await given.ended([held])

    assert.equal(isAlone, 'running')
    assert.equal(given.repeated.size, 0)
    assert.equal(
      given.logged.some((line) => line.includes('refuses')),
      true,
    )
  },
}
