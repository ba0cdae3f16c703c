import { expectTypeOf, test } from 'vitest'
import { define } from '../../src/definition/index.ts'
import type {
  BulkResult,
  Engine,
  Explanation,
  RunHandle,
  RunHistoryEntry,
  StepReason,
} from '../../src/engine/index.ts'

declare const engine: Engine

const workflow = define('controlled', { version: 1 })
  .step('rate', { run: () => ({ rate: 1, at: new Date() }) })
  .step('mail', { dependsOn: ['rate'], run: async () => {} })

/** A name does not tell whether its step is a loop. */
type OrRoundOf<Name extends string> = Name | `${Name}[${number}]`

test('steps are named by the definition, and a stand-in is what the step would return, as JSON brings it back', async () => {
  const run = await engine.run(workflow)

  expectTypeOf(run.retryStep).parameter(0).toEqualTypeOf<OrRoundOf<'rate' | 'mail'>>()
  await run.skipStep('rate', { output: { rate: 2, at: '2025-01-01' }, by: 'ann', reason: 'by hand' })
  await run.skipStep('mail')
  await run.retryCompensation('rate', { by: 'ann' })
  // @ts-expect-error: there is no such step.
  await run.retryStep('rates')
  // @ts-expect-error: the step returns something else.
  await run.skipStep('rate', { output: { rate: 'two' } })
  // @ts-expect-error: no name is a number.
  await run.pause({ by: 7 })
})

test('a run that was found elsewhere takes any name', async () => {
  const run = engine.runs.handle('01920000-0000-7000-8000-000000000000')

  expectTypeOf(run.skipCompensation).parameter(0).toBeString()
  await run.skipStep('anything', { output: 1 })
  expectTypeOf(await run.pause()).toBeBoolean()
  expectTypeOf(await run.history()).toEqualTypeOf<readonly RunHistoryEntry[]>()
})

test('runs are explained by their id or by a handle', async () => {
  const run: RunHandle = engine.runs.handle('01920000-0000-7000-8000-000000000000')

  expectTypeOf(engine.explain(run)).resolves.toEqualTypeOf<Explanation>()
  const { steps } = await engine.explain(run.id)
  expectTypeOf(steps[0]!.reason).toEqualTypeOf<StepReason>()
  expectTypeOf(await engine.migrateRun(run, workflow, { by: 'ann' })).toBeBoolean()
})

test('many runs are acted on by a filter that has no page', async () => {
  expectTypeOf(
    engine.runs.pauseMany({ workflow: 'w', status: ['running'] }),
  ).resolves.toEqualTypeOf<BulkResult>()
  await engine.runs.cancelMany({ all: true }, { dryRun: true, compensate: false, limit: 10 })
  // @ts-expect-error: pages are the engine's own.
  await engine.runs.retryMany({ before: 'x' })
})
