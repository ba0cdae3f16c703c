import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { define, type ReceivesNothing } from '../../src/definition/index.ts'
import type { Engine, RunHandle } from '../../src/engine/index.ts'

declare const engine: Engine

const checked = define('checked', { version: 1, input: z.object({ amount: z.coerce.number() }) })
  .step('charge', { run: ({ input }) => ({ id: 'ch_1', amount: input.amount, at: new Date() }) })
  .step('mail', { dependsOn: ['charge'], run: async ({ deps }) => deps.charge.id })
const open = define('open', { version: 1 }).step('a', { run: () => 1 })

test('run() takes what the schema takes, and result() gives what the steps return, as JSON brings it back', async () => {
  const run = await engine.run(checked, { amount: '7' })

  expectTypeOf(await run.result()).toEqualTypeOf<{
    readonly charge: { id: string; amount: number; at: string }
    readonly mail: string
  }>()
})

test('run() insists on an input where the schema does', () => {
  // @ts-expect-error: the input is missing.
  engine.run(checked)
  // @ts-expect-error: the input lacks its amount.
  engine.run(checked, {})
})

test('run() needs no input where anything will do', () => {
  expectTypeOf(engine.run(open)).resolves.toEqualTypeOf<RunHandle<{ readonly a: number }, ReceivesNothing>>()
  engine.run(open, undefined, { key: 'k' })
})

test('listeners know their events', () => {
  engine.on('step.retrying', ({ delayMs, error }) => {
    expectTypeOf(delayMs).toBeNumber()
    expectTypeOf(error.message).toBeString()
  })
  // @ts-expect-error: there is no such event.
  engine.on('step.exploded', () => {})
})
