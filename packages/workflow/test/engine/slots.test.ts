import { describe, expect, it } from 'vitest'
import { Slots } from '../../src/engine/base/slots.ts'

/** Items that end when told to. */
function heldSlots(concurrency: number, reserved = 0) {
  const began: string[] = []
  const ended: string[] = []
  const release = new Map<string, () => void>()
  const slots = new Slots<string, string>({
    concurrency,
    reserved,
    perform: (item) => {
      began.push(item)
      if (item.startsWith('quick')) return item
      return new Promise((resolve) => release.set(item, () => resolve(item)))
    },
    onEnd: (item) => ended.push(item),
  })
  return { slots, began, ended, end: (item: string) => release.get(item)!() }
}

/** Lets everything happen that waits for nothing from outside. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('slots', () => {
  it('perform at most one item each, in order', async () => {
    const { slots, began, end } = heldSlots(2)

    for (const item of ['a', 'b', 'c', 'd']) slots.add(item)
    await settled()
    const atFirst = [...began]
    end('b')
    await settled()

    expect(atFirst).toEqual(['a', 'b'])
    expect(began).toEqual(['a', 'b', 'c'])
  })

  it('are free again before onEnd is called', async () => {
    const free: number[] = []
    const slots = new Slots<number, number>({
      concurrency: 1,
      perform: async (item) => item,
      onEnd: () => free.push(slots.free),
    })

    slots.add(1)
    const whileQueued = slots.free
    await settled()

    expect(whileQueued).toBe(0)
    expect(free).toEqual([1])
  })

  it('do not let synchronous items wait behind a long one', async () => {
    const { slots, ended, end } = heldSlots(2)

    for (const item of ['slow', 'quick 1', 'quick 2', 'quick 3']) slots.add(item)
    await settled()

    expect(ended).toEqual(['quick 1', 'quick 2', 'quick 3'])
    end('slow')
    await settled()
    expect(ended).toHaveLength(4)
    expect(slots.free).toBe(2)
  })

  it('accept items again after the queue was empty', async () => {
    const { slots, ended } = heldSlots(3)

    slots.add('quick 1')
    await settled()
    slots.add('quick 2')
    await settled()

    expect(ended).toEqual(['quick 1', 'quick 2'])
  })

  it('give back the items that wait, but for the first ones', async () => {
    const { slots, began, end } = heldSlots(1)
    for (const item of ['a', 'b', 'c', 'd']) slots.add(item)
    await settled()

    const withdrawn = slots.withdraw(1)
    end('a')
    await settled()
    end('b')
    await settled()

    expect(withdrawn).toEqual(['c', 'd'])
    expect(began).toEqual(['a', 'b'])
    expect(slots.free).toBe(1)
  })

  it('keep the order of thousands of items', async () => {
    const { slots, ended } = heldSlots(1)
    const items = Array.from({ length: 5_000 }, (_, n) => `quick ${n}`)

    for (const item of items) slots.add(item)
    await settled()

    expect(ended).toEqual(items)
  })
})

describe('items that are put first', () => {
  it('begin before those that wait, in their own order, and are not withdrawn', async () => {
    const { slots, began, end } = heldSlots(1)
    for (const item of ['a', 'b', 'c']) slots.add(item)
    await settled()
    for (const item of ['undo 1', 'undo 2']) slots.addFirst(item)
    await settled()
    const free = slots.free

    const withdrawn = slots.withdraw(3)
    end('a')
    await settled()
    end('undo 1')
    await settled()
    end('undo 2')
    await settled()

    expect(free).toBe(-4)
    expect(withdrawn).toEqual(['c'])
    expect(began).toEqual(['a', 'undo 1', 'undo 2', 'b'])
  })

  it('that are reserved perform only what was put first, when all others are taken', async () => {
    const { slots, began, end } = heldSlots(2, 1)

    for (const item of ['a', 'b', 'c']) slots.add(item)
    await settled()
    for (const item of ['first 1', 'first 2']) slots.addFirst(item)
    await settled()
    const whileFull = [...began]
    end('first 1')
    await settled()
    const after = [...began]
    end('a')
    await settled()

    expect(whileFull).toEqual(['a', 'b', 'first 1'])
    expect(after).toEqual([...whileFull, 'first 2'])
    expect(began).toEqual([...after, 'c'])
  })

  it('that are reserved stay empty while another one is free', async () => {
    const { slots, began, end } = heldSlots(1, 1)

    slots.addFirst('first 1')
    await settled()
    slots.add('a')
    await settled()
    const beside = [...began]
    end('first 1')
    await settled()

    expect(beside).toEqual(['first 1'])
    expect(began).toEqual(['first 1', 'a'])
  })

  it('take what is put first in the moment when a reserved one has just become free', async () => {
    const began: string[] = []
    const slots: Slots<string, string> = new Slots<string, string>({
      concurrency: 1,
      reserved: 1,
      perform: (item) => {
        began.push(item)
        return item === 'long' ? new Promise(() => {}) : Promise.resolve(item)
      },
      onEnd: (item) => {
        if (item === 'first 1') queueMicrotask(() => slots.addFirst('first 2'))
      },
    })

    slots.add('long')
    await settled()
    slots.addFirst('first 1')
    await settled()

    expect(began).toEqual(['long', 'first 1', 'first 2'])
  })
})
