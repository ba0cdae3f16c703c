import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

describe('the event of an outcome', () => {
  it('says how long the step had been due: since its run, since its retry, or not at all', async () => {
    const { clock, engine, worker } = engines()
    const told: unknown[] = []
    const workflow = define('waited', { version: 1 })
      .step('one', { run: () => 1 })
      .step('two', {
        dependsOn: ['one'],
        retry: { initial: '2s', jitter: false },
        run: ({ attempt }) => {
          if (attempt === 1) throw new Error('busy')
          return 2
        },
      })
    const run = await engine().run(workflow, undefined, { priority: 7 })
    await clock.advance('5s')

    const working = await worker({ workflows: [workflow] })
    for (const event of ['step.completed', 'step.retrying'] as const)
      working.on(event, ({ step, attempt, waitedMs }) => told.push([step, attempt, waitedMs]))
    await clock.runUntil(run.result())

    expect(told).toEqual([
      ['one', 1, 5_000],
      ['two', 1, 0],
      ['two', 2, 0],
    ])
  })
})
