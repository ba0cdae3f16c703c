import { createEngine, define, PermanentError } from '@belay/workflow'
import { expect, it } from 'vitest'
import { memory } from '../../src/index.ts'

const refuse = (): never => {
  throw new PermanentError('refused', { cause: new Error('deeper') })
}

it('settled values can be returned and hold no stack; snapshots keep the stacks', async () => {
  const workflow = define('settling', { version: 1 })
    .step('risky', { onFailure: 'continue', run: refuse })
    .map('items', { onFailure: 'collect', over: () => [1, 2], run: refuse })
    .step('summary', { dependsOn: ['risky', 'items'], run: ({ deps }) => deps })
  const adapter = memory()
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()

  const run = await engine.run(workflow)
  const outputs = await adapter.clock.runUntil(run.result())

  const error = { name: 'PermanentError', message: 'refused', cause: { name: 'Error', message: 'deeper' } }
  const failed = { status: 'failed', error: expect.objectContaining(error) }
  expect(outputs).toEqual({
    risky: failed,
    items: [failed, failed],
    summary: { risky: failed, items: [failed, failed] },
  })
  expect(JSON.stringify(outputs)).not.toContain('"stack"')
  const risky = (await run.status()).steps.find(({ name }) => name === 'risky')
  expect(risky?.error?.stack).toContain('settled-values.test.ts')
  await engine.stop()
})

it('a map whose many items failed with long stacks fits into its output', async () => {
  const workflow = define('many', { version: 1 }).map('items', {
    onFailure: 'collect',
    over: () => Array.from({ length: 2_000 }, (_, index) => index),
    itemsMax: 2_000,
    run: () => {
      throw Object.assign(new PermanentError('no'), {
        stack: `Error: no\n${'    at somewhere (file.js:1:1)\n'.repeat(20)}`,
      })
    },
  })
  const adapter = memory()
  const engine = createEngine({ adapter, workflows: [workflow], payloadMaxBytes: 400_000 })
  await engine.start()

  const { items } = await adapter.clock.runUntil((await engine.run(workflow)).result(), { limit: '1h' })

  expect(items).toHaveLength(2_000)
  await engine.stop()
})
