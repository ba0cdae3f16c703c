import { expectTypeOf, test } from 'vitest'
import { define, unchecked } from '../../src/definition/index.ts'
import type { Engine, KeyedRunHandle, RunHandle, RunReference, RunSummary } from '../../src/engine/index.ts'

declare const engine: Engine
declare const id: string

const order = define('order', { version: 1, input: unchecked<{ id: string }>() })
  .step('charge', { run: () => ({ charge: 'ch_1', at: new Date() }) })
  .waitForSignal('paid', { dependsOn: ['charge'], schema: unchecked<{ amount: number }>() })
  .approval('packing', { dependsOn: ['paid'] })

type Outputs = { charge: string; at: string }

test('a handle by id or by key has the types of the definition, signals included', async () => {
  for (const handle of [engine.runs.handle(order, id), engine.runs.handle(order, { key: 'o1' })]) {
    expectTypeOf((await handle.result({ timeout: '30s' })).charge).toEqualTypeOf<Outputs>()
    await handle.signal('paid', { amount: 7 })
    await handle.approve('packing', { by: 'ann' })
    // @ts-expect-error: there is no such signal.
    await handle.signal('payed', { amount: 7 })
    // @ts-expect-error: the amount is a number.
    await handle.signal('paid', { amount: 'seven' })
    // @ts-expect-error: a signal is not decided.
    await handle.approve('paid', { by: 'ann' })
    // @ts-expect-error: there is no such step.
    await handle.retryStep('charges')
  }
  expectTypeOf(engine.runs.handle(order, id).id).toBeString()
  expectTypeOf(engine.runs.handle(order, { key: 'o1' }).key).toBeString()
  // @ts-expect-error: which run it is, is known once it was found.
  engine.runs.handle(order, { key: 'o1' }).id
})

/** A name does not tell whether its step is a loop. */
type OrRoundOf<Name extends string> = Name | `${Name}[${number}]`

test('a handle by workflow and key in one is the same', () => {
  const handle = engine.runs.handle({ workflow: order, key: 'o1' })
  expectTypeOf(handle).toExtend<KeyedRunHandle>()
  expectTypeOf(handle.retryStep).parameter(0).toEqualTypeOf<OrRoundOf<'charge' | 'paid' | 'packing'>>()
  expectTypeOf(engine.runs.handle({ workflow: 'order', key: 'o1' })).toEqualTypeOf<KeyedRunHandle>()
  expectTypeOf(engine.runs.handle(id)).toEqualTypeOf<RunHandle>()
  expectTypeOf(engine.runs.handle('order', id)).toEqualTypeOf<RunHandle>()
})

test('every verb takes every reference, and knows the types of those that have them', async () => {
  const handle = await engine.run(order, { id: 'o1' }, { key: 'o1' })
  const typed = [handle, { workflow: order, key: 'o1' }, engine.runs.handle(order, { key: 'o1' })] as const
  for (const reference of typed) {
    expectTypeOf((await engine.result(reference)).charge).toEqualTypeOf<Outputs>()
    await engine.signal(reference, 'paid', { amount: 7 })
    await engine.reject(reference, 'packing', { by: 'ann' })
    await engine.skipStep(reference, 'charge', { output: { charge: 'ch_2', at: 'now' } })
    // @ts-expect-error: the payload is missing.
    await engine.signal(reference, 'paid')
    // @ts-expect-error: there is no such step.
    await engine.retryStep(reference, 'charges')
    // @ts-expect-error: the step gives something else.
    await engine.skipStep(reference, 'charge', { output: 7 })
  }
  const untyped: readonly RunReference[] = [id, { id }, { workflow: 'order', key: 'o1' }, handle]
  for (const reference of untyped) {
    expectTypeOf(await engine.result(reference)).toEqualTypeOf<Readonly<Record<string, unknown>>>()
    await engine.signal(reference, 'whatever', 7)
    await engine.approve(reference, 'whatever', { by: 'ann' })
    await engine.retryStep(reference, 'whatever')
    expectTypeOf(await engine.cancel(reference, { reason: 'out of stock' })).toBeBoolean()
    expectTypeOf(await engine.pause(reference)).toBeBoolean()
    await engine.migrateRun(reference, order)
    await engine.runs.history(reference)
  }
})

test('rows of lists and snapshots name their runs', async () => {
  const [summary] = await engine.runs.list()
  expectTypeOf(summary!).toExtend<RunReference>()
  expectTypeOf<RunSummary>().toExtend<RunReference>()
  await engine.retry(summary!)
})

test('what names no run does not compile', async () => {
  // @ts-expect-error: a number is no id.
  await engine.pause(7)
  // @ts-expect-error: a key belongs to a workflow.
  await engine.pause({ key: 'o1' })
  // @ts-expect-error: a workflow has many runs.
  await engine.pause({ workflow: order })
})

test('a wait for a result is limited by a duration or a signal', async () => {
  const run = engine.runs.handle(order, id)
  await run.result({ timeout: 1_000, signal: new AbortController().signal })
  await run.result({ timeout: '30s' })
  // @ts-expect-error: a duration has a unit.
  await run.result({ timeout: 'soon' })
  // @ts-expect-error: there is no such option.
  await run.result({ limit: 1 })
})

test('a run that is started by name takes any input, and tells whether it was checked', async () => {
  const run = await engine.run('order', { whatever: 1 }, { key: 'o1', version: 2 })
  expectTypeOf(run.checked).toBeBoolean()
  expectTypeOf(await run.result()).toEqualTypeOf<Readonly<Record<string, unknown>>>()
  await run.signal('whatever', 7)
  await engine.run('order')
  expectTypeOf((await engine.signal(run, 'whatever')).checked).toBeBoolean()
  // @ts-expect-error: a definition has its version.
  await engine.run(order, { id: 'o1' }, { version: 2 })
  // @ts-expect-error: the definition knows its input.
  await engine.run(order, { whatever: 1 })
})

test('actions on many runs take lists of references', async () => {
  const run = await engine.run(order, { id: 'o1' })
  const list = [run, id, { workflow: order, key: 'o1' }, { workflow: 'order', key: 'o2' }]
  const { unknown } = await engine.runs.cancelMany(list, { dryRun: true })
  expectTypeOf(unknown).toExtend<readonly RunReference[]>()
  await engine.runs.retryMany(await engine.runs.list({ status: 'failed' }))
  // @ts-expect-error: a number is no run.
  await engine.runs.pauseMany([7])
})
