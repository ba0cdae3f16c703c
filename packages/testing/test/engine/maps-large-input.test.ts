import { createEngine, define, unchecked } from '@belay/workflow'
import { expect, it } from 'vitest'
import { memory } from '../../src/index.ts'

it.each([10, 10_000])(
  'an item and a round that are tried again get their input of %i characters, and the last heartbeat',
  async (length) => {
    const adapter = memory()
    const failed = new Set<string>()
    const failOnce = async (what: string, heartbeat: (details: unknown) => Promise<void>) => {
      if (failed.has(what)) return
      failed.add(what)
      await heartbeat(what)
      throw new Error('this time')
    }
    const retry = { attempts: 3, initial: '1ms' } as const
    const workflow = define('large', { version: 1, input: unchecked<string>(), retry })
      .map('items', {
        over: () => ['x', 'y'],
        run: async ({ input, item, heartbeat, lastHeartbeat }) => {
          await failOnce(item, heartbeat)
          return `${input.length} ${item} ${lastHeartbeat}`
        },
      })
      .repeat('rounds', {
        first: () => '',
        run: async ({ input, round, heartbeat, lastHeartbeat }) => {
          await failOnce(`round ${round}`, heartbeat)
          return `${input.length} ${round} ${lastHeartbeat}`
        },
        until: ({ round }) => round === 2,
      })
    const engine = createEngine({ adapter, workflows: [workflow] })
    await engine.start()

    const run = await engine.run(workflow, 'i'.repeat(length))

    expect(await adapter.clock.runUntil(run.result())).toEqual({
      items: [`${length} x x`, `${length} y y`],
      rounds: `${length} 2 round 2`,
    })
    await adapter.clock.runUntil(engine.close())
  },
)
