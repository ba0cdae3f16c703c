import { define, PermanentError } from '@belay/workflow'
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

it('refuses to retry a child that was never started, and only takes the key: it would wait for ever', async () => {
  const { clock, worker } = engines()
  const child = define('child', { version: 1 }).step('work', { run: () => 'work' })
  const parent = define('parent', { version: 1 }).workflow('middle', child, {
    input: () => {
      throw new PermanentError('no input')
    },
  })
  const engine = await worker({ workflows: [parent] })
  const run = await engine.run(parent, undefined)
  await clock.runUntil(run.result().catch(String))

  const [buried] = await engine.runs.list({ parentId: run.id })

  expect(buried).toMatchObject({ status: 'cancelled' })
  await expect(engine.runs.handle(buried!.id).retry()).rejects.toThrow(
    `Run ${buried!.id} of "child" cannot be retried alone: it shares the fate of its parent. Retry run ${run.id} `,
  )
})
