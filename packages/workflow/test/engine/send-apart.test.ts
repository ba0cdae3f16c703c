import { describe, expect, it } from 'vitest'
import { sendApart } from '../../src/adapter/send-apart.ts'
import { StoreContendedError, StoreUnavailableError } from '../../src/errors.ts'

/** Sends 0 … size-1 to a store that throws what `fault` returns for a batch. */
async function send(size: number, fault: (batch: readonly number[], call: number) => Error | undefined) {
  const calls: (readonly number[])[] = []
  const ended: [item: number, how: 'sent' | 'refused' | 'held up' | 'unanswered'][] = []
  let open = 0
  await sendApart(
    Array.from({ length: size }, (_, item) => item),
    {
      send: async (batch) => {
        open += 1
        expect(open, 'calls under way').toBe(1)
        calls.push(batch)
        await Promise.resolve()
        open -= 1
        const error = fault(batch, calls.length)
        if (error !== undefined) throw error
        for (const item of batch) ended.push([item, 'sent'])
      },
      refused: (item) => void ended.push([item, 'refused']),
      heldUp: (item) => void ended.push([item, 'held up']),
      unanswered: (batch) => {
        for (const item of batch) ended.push([item, 'unanswered'])
      },
    },
  )
  const of = (how: string) => ended.filter(([, ending]) => ending === how).map(([item]) => item)
  return { calls, order: ended.map(([item]) => item), of }
}

const refusing = (...bad: readonly number[]) => {
  return (batch: readonly number[]) =>
    batch.some((item) => bad.includes(item)) ? new Error('bad') : undefined
}

const notNow = () => new StoreUnavailableError('not now', { answered: true })

const inOrder = (size: number) => Array.from({ length: size }, (_, item) => item)

describe('sending a batch apart', () => {
  it('takes one call when nothing fails', async () => {
    const { calls, of } = await send(500, () => undefined)
    expect(calls).toEqual([inOrder(500)])
    expect(of('sent')).toEqual(inOrder(500))
  })

  it('isolates one refused member of many in about two calls for each halving', async () => {
    const { calls, of, order } = await send(512, refusing(300))
    expect(of('refused')).toEqual([300])
    expect(of('sent')).toHaveLength(511)
    expect(order).toEqual(inOrder(512))
    expect(calls).toHaveLength(1 + 2 * 9)
  })

  it('isolates several refused members, the first and the last among them', async () => {
    const { of, order } = await send(37, refusing(0, 17, 18, 36))
    expect(of('refused')).toEqual([0, 17, 18, 36])
    expect(of('sent')).toHaveLength(33)
    expect(order).toEqual(inOrder(37))
  })

  it('tells each member apart when all are refused', async () => {
    const { of, order } = await send(7, () => new Error('bad'))
    expect(of('refused')).toEqual(inOrder(7))
    expect(order).toEqual(inOrder(7))
  })

  it('does not halve a member that is alone', async () => {
    const { calls, of } = await send(1, refusing(0))
    expect(calls).toEqual([[0]])
    expect(of('refused')).toEqual([0])
  })

  it('gives back the part whose answer was lost, whole, and sends the rest', async () => {
    const fault = (batch: readonly number[], call: number) =>
      // The second call is the first half.
      call === 2 ? new StoreUnavailableError('gone') : refusing(6)(batch)
    const { of, order } = await send(8, fault)
    expect(of('unanswered')).toEqual([0, 1, 2, 3])
    expect(of('refused')).toEqual([6])
    expect(of('sent')).toEqual([4, 5, 7])
    expect(order).toEqual(inOrder(8))
  })

  it('isolates a member that the store may accept later, like one that it never will', async () => {
    const fault = (batch: readonly number[]) => (batch.includes(5) ? notNow() : undefined)
    const { of, order } = await send(16, fault)
    expect(of('refused')).toEqual([5])
    expect(of('sent')).toHaveLength(15)
    expect(order).toEqual(inOrder(16))
  })

  it('takes the store for unable after eight members that it refuses for now, and asks for no more of them one by one', async () => {
    const { calls, of, order } = await send(500, notNow)
    expect(of('refused')).toEqual(inOrder(8))
    expect(of('unanswered')).toHaveLength(492)
    expect(order).toEqual(inOrder(500))
    expect(calls.length).toBeLessThan(40)
  })

  it('isolates any number of members that the store refuses for now between others', async () => {
    const odd = (batch: readonly number[]) => (batch.some((item) => item % 2 === 1) ? notNow() : undefined)
    const { of } = await send(64, odd)
    expect(of('refused')).toHaveLength(32)
    expect(of('sent')).toHaveLength(32)
  })

  it('isolates a member that is held up in parts as large as the square root of the batch', async () => {
    const heldUp = (batch: readonly number[]) => {
      return batch.includes(42) ? new StoreContendedError('held') : undefined
    }
    const { calls, of, order } = await send(100, heldUp)
    expect(of('held up')).toEqual([42])
    expect(of('sent')).toHaveLength(99)
    expect(order).toEqual(inOrder(100))
    expect(calls.filter(({ length }) => length === 10)).toHaveLength(10)
  })

  it('tells a refused member from one that is held up in the same batch', async () => {
    const fault = (batch: readonly number[]) => {
      if (batch.includes(3)) return new StoreContendedError('held')
      return refusing(9)(batch)
    }
    const { of, order } = await send(16, fault)
    expect(of('held up')).toEqual([3])
    expect(of('refused')).toEqual([9])
    expect(order).toEqual(inOrder(16))
  })
})
