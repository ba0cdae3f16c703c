import { createEngine, define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants, memory } from '../../src/index.ts'

const gate = { dependsOn: ['a', 'b', 'c'] } as const

const items = {
  dependsOn: ['b', 'gate'],
  over: () => [1, 2],
  run: ({ deps, item }: { deps: { b: string }; item: number }) => `${deps.b}${item}`,
} as const

const rounds = {
  dependsOn: ['b', 'gate'],
  first: () => '',
  run: ({ deps, round }: { deps: { b: string }; round: number }) => `${deps.b}${round}`,
  until: ({ round }: { round: number }) => round === 2,
} as const

const first = define('album', { version: 1 })
  .step('a', { run: () => 'a' })
  .step('b', { run: () => 'b' })
  .step('c', { run: () => 'c' })
  .waitForSignal('gate', gate)
  .map('items', items)
  .repeat('rounds', rounds)

/** One more step, so all numbers differ: what a worker has cached by number is about other steps. */
const second = define('album', { version: 2 })
  .step('added', { run: () => 'added' })
  .step('a', { run: () => 'a' })
  .step('b', { run: () => 'b' })
  .step('c', { run: () => 'c' })
  .waitForSignal('gate', gate)
  .map('items', items)
  .repeat('rounds', rounds)

describe('items and rounds that come after their run has moved to another version', () => {
  it('get the outputs of their dependencies, and not what a worker has cached under their numbers', async () => {
    const adapter = memory()
    const engine = createEngine({ adapter, workflows: [first, second] })
    await engine.start()
    const run = await engine.run(first)
    await adapter.clock.advance(1_000)

    await engine.migrateRun(run, second)
    await run.signal('gate', null)
    const result = run.result()
    await adapter.clock.runUntil(result)

    expect(await result).toMatchObject({ items: ['b1', 'b2'], rounds: 'b2' })
    await adapter.clock.runUntil(engine.close())
    assertInvariants(adapter.dump())
  })
})
