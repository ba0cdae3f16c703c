import { createEngine, define, unchecked } from '@belay/workflow'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pglite } from '../src/pglite.ts'

const order = define('order', { version: 1, input: unchecked<object>() }).step('reserve', { run: () => 1 })

describe('a loop of awaited calls on PGlite', () => {
  async function given() {
    const engine = createEngine({ adapter: pglite(), workflows: [order] })
    onTestFinished(() => engine.close())
    await engine.start()
    return engine
  }

  /** Counts the timers that fired before the loop was over. */
  async function firedDuring(loop: () => Promise<void>): Promise<number> {
    let [fired, isOver] = [0, false]
    const arm = () => {
      // biome-ignore lint/style/noRestrictedGlobals: real timers are what this test is about.
      setTimeout(() => {
        if (isOver) return
        fired += 1
        arm()
      })
    }
    arm()
    await loop()
    isOver = true
    return fired
  }

  it('of starts lets timers fire, and the runs go on meanwhile', async () => {
    const engine = await given()
    let started = 0
    let completed = 0
    engine.on('run.completed', () => {
      completed += 1
    })

    const fired = await firedDuring(async () => {
      for (; started < 400 && completed === 0; started += 1) await engine.run(order, {})
    })

    expect(fired).toBeGreaterThan(0)
    expect(completed).toBeGreaterThan(0)
  })

  it('of reads lets timers fire', async () => {
    const engine = await given()
    const run = await engine.run(order, {})

    const fired = await firedDuring(async () => {
      for (let reads = 0; reads < 200; reads += 1) await run.status()
    })

    expect(fired).toBeGreaterThan(0)
  })
})
