import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

it('retries a child that failed after a pivot of its parent, with the step that waits for it', async () => {
  const { clock, worker } = engines()
  const failing = new Set(['child'])
  const child = define('child', { version: 1 }).step('work', {
    retry: false,
    run: () => {
      if (failing.has('child')) throw new Error('not yet')
      return 'work'
    },
  })
  const parent = define('parent', { version: 1 })
    .step('before', { run: () => 1, pivot: true })
    .workflow('middle', child, { dependsOn: ['before'] })
  const engine = await worker({ workflows: [parent] })
  const run = await engine.run(parent, undefined)
  const status = async () => (await engine.runs.get(run.id))?.status
  await clock.advance(2_000)
  expect(await status()).toBe('parked')

  await run.retryStep('middle')
  // The child fails again, and its parent is told again.
  await clock.advance(2_000)
  expect(await status()).toBe('parked')
  failing.clear()
  await run.retry()

  expect(await clock.runUntil(run.result())).toEqual({ before: 1, middle: { work: 'work' } })
  const children = await engine.runs.list({ parentId: run.id })
  expect(children.map((found) => found.status)).toEqual(['completed'])
})
