import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { memory } from '../../src/index.ts'
import { engines } from './bench-of-engines.ts'

it.each(['pause', 'resume'] as const)(
  "refuses to %s a run that may have children in a caller's transaction",
  async (action) => {
    const { worker } = engines()
    const adapter = memory()
    const child = define('child', { version: 1 }).step('a', { run: () => 1 })
    const parent = define('parent', { version: 1 }).workflow('middle', child, {})
    const engine = await worker({ adapter, workflows: [parent, child] })
    const run = await engine.run(parent, undefined, { delay: '1d' })
    const alone = await engine.run(child, undefined, { delay: '1d' })

    await adapter.transaction(async (tx) => {
      await expect(run[action]({ tx })).rejects.toThrow(
        `Run ${run.id} of "parent" cannot be ${action}d in a transaction: it may have children`,
      )
      await alone.pause({ tx })
    })

    expect((await run.status()).status).toBe('scheduled')
    expect((await alone.status()).status).toBe('paused')
  },
)
