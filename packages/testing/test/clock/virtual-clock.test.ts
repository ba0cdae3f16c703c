import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../src/index.ts'

const sleep = (clock: VirtualClock, ms: number) =>
  new Promise<void>((resolve) => {
    clock.after(ms, function sleeping() {
      resolve()
    })
  })

describe('virtual clock', () => {
  test('starts at an instant that reads as a date', () => {
    expect(new Date(new VirtualClock().now()).toISOString()).toBe('2025-01-01T00:00:00.000Z')
    expect(new VirtualClock(new Date('2030-05-06T00:00:00Z')).now()).toBe(Date.UTC(2030, 4, 6))
  })

  test('fires due timers in order of time, then in the order they were set, each at its own instant', async () => {
    const clock = new VirtualClock(0)
    const fired: string[] = []
    const note = (name: string) => () => fired.push(`${name}@${clock.now()}`)
    clock.after(20, note('late'))
    clock.after(10, note('first'))
    clock.after(10, note('second'))
    clock.after(31, note('beyond'))

    await clock.advance('30ms')

    expect(fired).toEqual(['first@10', 'second@10', 'late@20'])
    expect(clock.now()).toBe(30)
    expect(clock.pending).toBe(1)
  })

  test('lets awaiting code run between two timers', async () => {
    const clock = new VirtualClock(0)
    const wokenAt: number[] = []
    const loop = async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        await sleep(clock, 10)
        await Promise.resolve()
        wokenAt.push(clock.now())
      }
    }
    void loop()

    await clock.advance(30)

    expect(wokenAt).toEqual([10, 20, 30])
  })

  test('a cancelled timer never fires, and cancelling a fired one does nothing', async () => {
    const clock = new VirtualClock(0)
    const fired: string[] = []
    const cancelled = clock.after(10, () => fired.push('cancelled'))
    const kept = clock.after(10, () => fired.push('kept'))
    clock.after(20, () => fired.push('later'))

    cancelled.cancel()
    await clock.advance(10)
    kept.cancel()
    await clock.advance(10)

    expect(fired).toEqual(['kept', 'later'])
  })

  test('advancing to a past instant leaves the time unchanged', async () => {
    const clock = new VirtualClock(1_000)
    await clock.advanceTo(500)
    expect(clock.now()).toBe(1_000)
  })

  test('refuses a value that is not a duration', async () => {
    const clock = new VirtualClock(0)
    await expect(clock.advance(-1)).rejects.toThrow(
      /advance\(\): the duration is -1, which is not a duration/,
    )
    await expect(clock.advance('soon' as '1s')).rejects.toThrow(/advance\(\): the duration is "soon"/)
  })

  test('runs until a promise settles, returns its value or error, and goes no further', async () => {
    const clock = new VirtualClock(0)
    clock.after(1_000, () => {})
    const value = sleep(clock, 50).then(() => 'done')
    const failing = sleep(clock, 60).then(() => Promise.reject(new Error('broken')))

    await expect(clock.runUntil(value)).resolves.toBe('done')
    expect(clock.now()).toBe(50)
    await expect(clock.runUntil(failing)).rejects.toThrow('broken')
    expect(clock.now()).toBe(60)
  })

  test('gives up at the limit and names the pending timers', async () => {
    const clock = new VirtualClock(0)
    const never = new Promise<void>(() => {})
    const tick = (): void => {
      clock.after(200, tick)
    }
    tick()

    await expect(clock.runUntil(never, { limit: '1s' })).rejects.toThrow(
      /did not settle, within 1000 ms of virtual time.*\+1000 ms.*Pending timers: tick at \+1200 ms/,
    )
  })

  test('waits for real I/O when no timer is left', async () => {
    const clock = new VirtualClock(0)
    // biome-ignore lint/style/noRestrictedGlobals: real work is what the clock waits for here.
    const realWork = new Promise<string>((resolve) => setTimeout(resolve, 5, 'done'))
    await expect(clock.runUntil(realWork)).resolves.toBe('done')
    expect(clock.now()).toBe(0)
  })
})
