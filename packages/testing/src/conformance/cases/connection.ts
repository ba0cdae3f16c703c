import type { Adapter } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'

const WAKE_WITHIN_MS = 3_000

export const connectionCases: Cases = {
  'opening twice is opening once': async (given) => {
    const run = await given.pair()
    await given.adapter.open()
    expect(await run.status()).toBe('running')
  },

  'the store’s time is what the harness says': async ({ adapter, harness }) => {
    const before = await adapter.now()
    await harness.advance(12_345)
    expect((await adapter.now()) - before).toBeCloseTo(12_345, 0)
  },

  'a wake-up reaches whoever listens, and no longer those who stopped': async ({ adapter }) => {
    const stopped: string[] = []
    const stop = adapter.onWake(() => stopped.push('woken'))
    stop()
    stop()

    await woken(adapter, () => adapter.wake())

    expect(stopped).toEqual([])
  },

  'many wake-ups at once harm nobody': async ({ adapter }) => {
    await woken(adapter, () => {
      for (let wake = 0; wake < 1_000; wake += 1) adapter.wake()
    })
    expect(adapter.wake()).toBeUndefined()
  },

  'a wake-up reaches other processes': withSecond(async ({ adapter }, second) => {
    await woken(second, () => adapter.wake())
    expect(second.name).toBe(adapter.name)
  }),

  'what one process does is there for the next one': withSecond(async (given, second) => {
    const run = await given.pair()
    const worker = await given.worker(second)
    await worker.complete(run, 'a')
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'ready' })
    expect(await second.readRun(run.id)).toEqual(await run.read())
  }),

  'closing one adapter leaves the other open': withSecond(async (given, second) => {
    const run = await given.pair()
    await second.close()
    await second.close()

    await expect(second.readRun(run.id)).rejects.toThrow()
    expect(() => second.wake()).not.toThrow()
    expect(await run.status()).toBe('running')
  }),
}

/** Wakes until a listener hears it: a single wake-up is a hint that may be lost. */
async function woken(listening: Adapter, wake: () => void): Promise<void> {
  const deadline = performance.now() + WAKE_WITHIN_MS
  let heard = false
  const stop = listening.onWake(() => {
    heard = true
  })
  while (!heard && performance.now() < deadline) {
    wake()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  stop()
  expect(heard, `no listener was woken within ${WAKE_WITHIN_MS} ms`).toBe(true)
}
