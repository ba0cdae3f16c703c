import { createEngine, define } from '@belay/workflow'
import { expect, it, onTestFinished } from 'vitest'
import { memory } from '../../src/index.ts'

const order = define('order', { version: 1 }).step('reserve', { run: () => 1 })

it('a loop of awaited calls on a memory store in real time lets timers fire', async () => {
  const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [order] })
  onTestFinished(() => engine.close({ timeout: 0 }))
  await engine.start()
  let turns = 0
  const turned = () => {
    turns += 1
    // biome-ignore lint/style/noRestrictedGlobals: real timers are what this test is about.
    if (turns < 3) setTimeout(turned)
  }
  turned()

  const runs: unknown[] = []
  while (turns < 3 && runs.length < 5_000) runs.push(await engine.run(order))

  expect(turns).toBe(3)
})
