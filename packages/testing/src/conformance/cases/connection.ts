import type { Adapter } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'

const WAKE_WITHIN_MS = 3_000

export const connectionCases: Cases = {
  'opening an adapter twice is harmless': async (given) => {
    const run = await given.pair()
    await given.adapter.open()
    expect(await run.status()).toBe('running')
  },

  'the harness sets the store’s time': async ({ adapter, harness }) => {
    const before = await adapter.now()
    await harness.advance(12_345)
    expect((await adapter.now()) - before).toBeCloseTo(12_345, 0)
  },

  'a hint reaches listeners, but not those who stopped listening': async ({ adapter }) => {
    const stopped: string[] = []
    const stop = adapter.onWake(() => stopped.push('woken'))
    stop()
    stop()

    await woken(adapter, () => adapter.wake())

    expect(stopped).toEqual([])
  },

  'many hints at once are harmless': async ({ adapter }) => {
    await woken(adapter, () => {
      for (let wake = 0; wake < 1_000; wake += 1) adapter.wake()
    })
    expect(adapter.wake()).toBeUndefined()
  },

  'a hint reaches other processes': withSecond(async ({ adapter }, second) => {
    await woken(second, () => adapter.wake())
    expect(second.name).toBe(adapter.name)
  }),

  'one process sees what another has done': withSecond(async (given, second) => {
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

/** Sends hints until a listener hears one: a single hint may be lost. */
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
