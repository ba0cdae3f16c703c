import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { Capacity } from '../../src/engine/worker/capacity.ts'
import { StoreUnavailableError } from '../../src/errors.ts'

function capacityOf(concurrency: number, unsent = () => 0) {
  const heard: string[] = []
  const capacity = new Capacity({
    clock: systemClock,
    concurrency,
    undoSlots: 1,
    unsent,
    onRoom: () => heard.push(`room for ${capacity.room}`),
    onDoubt: () => heard.push('doubt'),
  })
  return { capacity, heard }
}

const moment = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('capacity', () => {
  it('has room for what is neither taken nor reserved', () => {
    const { capacity } = capacityOf(4)

    capacity.take()
    const reservation = capacity.reserve(2)

    expect(reservation.max).toBe(2)
    expect(capacity.room).toBe(1)
    expect(capacity.busy).toBe(1)
  })

  it('reserves no more than there is room for, and nothing when there is none', () => {
    const { capacity } = capacityOf(2)

    expect(capacity.reserve(5).max).toBe(2)
    expect(capacity.reserve(1).max).toBe(0)
    expect(capacity.room).toBe(0)
  })

  it('claims one undo more than it has slots, unless a step is leased ahead already', () => {
    const { capacity } = capacityOf(2)

    const undos = [capacity.undosToClaim]
    for (let taken = 1; taken <= 4; taken += 1) {
      capacity.take()
      undos.push(capacity.undosToClaim)
    }
    capacity.close()

    expect(undos).toEqual([3, 2, 1, 0, 0])
    expect(capacity.undosToClaim).toBe(0)
  })

  it('has room for as many undos as it has slots when all of them are taken, and for no more', () => {
    const { capacity } = capacityOf(2)
    capacity.take()
    capacity.take()

    const undos = capacity.reserve(5, capacity.undoRoom)

    expect(capacity.room).toBe(0)
    expect(undos.max).toBe(2)
    expect(capacity.undoRoom).toBe(0)
    capacity.close()
    expect(capacity.undoRoom).toBe(0)
  })

  it('gives a reservation back once, however often it is ended', () => {
    const { capacity } = capacityOf(3)
    const [first, second] = [capacity.reserve(2), capacity.reserve(1)]

    first.end()
    first.end()

    expect(capacity.room).toBe(2)
    second.end()
    expect(capacity.room).toBe(3)
  })

  it('has no room while too many outcomes wait to be sent, however many slots are free', async () => {
    let unsent = 2_001
    const { capacity, heard } = capacityOf(10, () => unsent)

    const whileTooMany = capacity.room
    unsent = 2_000
    capacity.recorded()
    await moment()

    expect(whileTooMany).toBe(0)
    expect(heard).toEqual(['room for 10'])
  })

  it('has no room once it is closed', () => {
    const { capacity } = capacityOf(2)

    capacity.close()

    expect(capacity.room).toBe(0)
    expect(capacity.reserve(1).max).toBe(0)
  })

  it('tells of room once for all that is freed at one moment, and after it', async () => {
    const { capacity, heard } = capacityOf(3)
    for (const _ of [1, 2, 3]) capacity.take()

    capacity.free()
    capacity.free()
    expect(heard).toEqual([])
    await moment()

    expect(heard).toEqual(['room for 2'])
  })

  it('has room ahead of its slots for as many steps as have just ended, unless it has one slot', () => {
    const two = capacityOf(2).capacity
    const one = capacityOf(1).capacity

    for (const capacity of [two, one]) {
      capacity.take()
      capacity.ended()
    }

    expect([two.room, one.room]).toEqual([3, 1])
  })

  it('counts more attempts than slots as busy slots only', () => {
    const { capacity } = capacityOf(1)

    capacity.take()
    capacity.take()

    expect(capacity.busy).toBe(1)
    expect(capacity.room).toBe(0)
  })
})

describe('a call that may lease steps', () => {
  it('keeps its slots until the steps are taken on', async () => {
    const { capacity } = capacityOf(5)

    const leased = await capacity.leasing(3, async (max) => {
      expect([max, capacity.room, capacity.isLeasing]).toEqual([3, 2, true])
      for (let step = 0; step < max; step += 1) capacity.take()
      return max
    })

    expect([leased, capacity.room, capacity.isLeasing]).toEqual([3, 2, false])
  })

  it('leaves a doubt when its answer is lost', async () => {
    const { capacity, heard } = capacityOf(5)
    const lost = new StoreUnavailableError('the connection was cut')

    await expect(capacity.leasing(1, () => Promise.reject(lost))).rejects.toBe(lost)

    expect(heard).toEqual(['doubt'])
    expect(capacity.isDoubted).toBe(true)
    expect(capacity.room).toBe(5)
  })

  it('leaves no doubt when it could lease nothing', async () => {
    const { capacity } = capacityOf(0)
    const lost = new StoreUnavailableError('the connection was cut')

    await expect(capacity.leasing(1, () => Promise.reject(lost))).rejects.toBe(lost)

    expect(capacity.isDoubted).toBe(false)
  })

  it('is waited for by a mark that was set while it was under way, and not by an earlier one', () => {
    const { capacity } = capacityOf(5)
    const before = capacity.mark()
    const call = capacity.reserve(1)
    const during = capacity.mark()

    expect(capacity.haveEndedBefore(before)).toBe(true)
    expect(capacity.haveEndedBefore(during)).toBe(false)
    call.end()
    expect(capacity.haveEndedBefore(during)).toBe(true)
  })
})

describe('a doubt', () => {
  it('is taken by the comparison, which puts it back when it settles nothing', () => {
    const { capacity } = capacityOf(1)
    capacity.doubt()

    const taken = capacity.takeDoubt()
    const during = capacity.isDoubted
    capacity.keepDoubt(taken)

    expect([taken, during, capacity.isDoubted]).toEqual([true, false, true])
  })

  it('that comes during a comparison outlasts it', () => {
    const { capacity } = capacityOf(1)
    capacity.takeDoubt()

    capacity.doubt()
    capacity.keepDoubt(false)

    expect(capacity.isDoubted).toBe(true)
  })
})
