import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.ts'
import { describeStore } from '../../src/conformance/store/describe.ts'
import { completed, ended, member, newId, StoreScenario } from '../../src/conformance/store/scenario.ts'
import { memoryStore } from '../../src/store/memory-store.ts'

function opened() {
  const clock = new VirtualClock()
  const store = memoryStore({ clock })
  return {
    store,
    advance: (ms: number) => clock.advance(ms),
    transaction: store.transaction,
    close: () => store.close(),
  }
}

describe('the store in memory', () => {
  describeStore({ name: 'memory', open: async () => opened() }, { it })
})

describe('what is special of the store in memory', () => {
  async function scenario() {
    const { store, ...rest } = opened()
    const given = new StoreScenario({ store, ...rest })
    await given.define()
    return { store, given }
  }

  it('a fault before a verb prevents it, and one after it loses the answer', async () => {
    const { store, given } = await scenario()
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })
    const commit = () => store.commit(worker, [member({ run: id, fence: 1, ends: [ended(1)] })])
    const failing = (at: 'before' | 'after') =>
      store.fault((verb, when) => {
        if (verb === 'commit' && when === at) throw new Error(`lost ${at}`)
      })

    failing('before')
    const prevented: unknown = await commit().catch((error: unknown) => error)
    const before = (await given.step(id, 1)).status
    failing('after')
    const lost: unknown = await commit().catch((error: unknown) => error)

    expect([String(prevented), before]).toEqual(['Error: lost before', 'pending'])
    expect([String(lost), (await given.step(id, 1)).status]).toEqual(['Error: lost after', 'completed'])
    expect([store.refusalOf(prevented), store.refusalOf(lost)]).toEqual([null, null])
  })

  it('a transaction whose key another one has taken meanwhile does not commit', async () => {
    const { given } = await scenario()
    const own = newId()

    const late = given.transaction(async (tx) => {
      await given.start({ id: own, key: 'k' }, { tx })
      await given.start({ key: 'k' })
    })

    await expect(late).rejects.toThrow('Another transaction')
    expect(await given.store.peek([own])).toEqual([])
  })

  it('a transaction that is over, or of another store, takes nothing', async () => {
    const { given } = await scenario()
    const other = await scenario()
    let over: unknown
    await given.transaction(async (tx) => {
      over = tx
    })

    await expect(given.start({}, { tx: over })).rejects.toThrow('over')
    await expect(given.transaction((tx) => other.given.start({}, { tx }))).rejects.toThrow('no transaction')
  })

  it('what was read does not change with the store', async () => {
    const { given } = await scenario()
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })
    const before = await given.peek(id)

    await given.store.commit(worker, [
      member({ run: id, fence: 1, ends: [ended(1)], turned: completed(), after: 'ends' }),
    ])

    expect([before.status, before.steps![0]!.status]).toEqual(['running', 'pending'])
  })
})
