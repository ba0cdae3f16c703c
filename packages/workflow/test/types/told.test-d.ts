import { expectTypeOf, test } from 'vitest'
import { define } from '../../src/definition/index.ts'
import type { Engine, RunHandle, WatchedChange } from '../../src/engine/index.ts'

declare const engine: Engine

const workflow = define('told', { version: 1 })
  .step('import', {
    run: async ({ publish, progress }) => {
      await publish('preview', { url: '/1' })
      await progress(1)
      await progress(1, 10, 'rows')
      // @ts-expect-error: a key is a string.
      await publish(1, 'one')
      // @ts-expect-error: a value is required.
      await publish('preview')
      // @ts-expect-error: how much is done is a number.
      await progress('1')
      return { rows: 10, at: new Date() }
    },
    compensate: ({ publish, progress }) => Promise.all([publish('state', 'removed'), progress(1)]),
  })
  .step('mail', { dependsOn: ['import'], transaction: true, run: ({ publish }) => publish('sent', true) })

test('the result of a step has the type of its output, as JSON brings it back', async () => {
  const run = await engine.run(workflow)

  const { rows, at } = await run.step('import', { timeout: '1s' })
  expectTypeOf(rows).toBeNumber()
  expectTypeOf(at).toBeString()
  expectTypeOf(engine.step(run, 'import')).resolves.toHaveProperty('rows')
  expectTypeOf(engine.step({ workflow, key: 'k' }, 'import')).resolves.toHaveProperty('rows')
  expectTypeOf(engine.runs.handle('id').step('anything')).resolves.toBeUnknown()
  // @ts-expect-error: there is no such step.
  await run.step('imports')
  // @ts-expect-error: there is no such step.
  await engine.step(run, 'imports')
})

test('the changes of a watched run know its steps and their outputs', async () => {
  const run = await engine.run(workflow)

  for await (const change of run.watch({ signal: AbortSignal.timeout(1_000) })) {
    switch (change.type) {
      case 'run':
        expectTypeOf(change.status).toExtend<string>()
        break
      case 'step':
        expectTypeOf(change.step).toEqualTypeOf<'import' | 'mail'>()
        if (change.step === 'import') expectTypeOf(change.output!.rows).toBeNumber()
        break
      case 'value':
        expectTypeOf(change.key).toBeString()
        expectTypeOf(change.value).toBeUnknown()
        break
      case 'progress':
        expectTypeOf(change.step).toEqualTypeOf<'import' | 'mail'>()
        expectTypeOf(change.total).toEqualTypeOf<number | undefined>()
        break
      default:
        expectTypeOf(change).toBeNever()
    }
  }
  // @ts-expect-error: a watch has no timeout.
  run.watch({ timeout: '1s' })
})

test('a run that was found elsewhere has steps of any name, and every handle is a handle', async () => {
  const run = await engine.run(workflow)
  const any: RunHandle = run

  expectTypeOf(any.watch()).toEqualTypeOf<AsyncIterableIterator<WatchedChange>>()
  for await (const change of engine.watch('id')) {
    if (change.type === 'step') expectTypeOf(change.step).toBeString()
  }
  expectTypeOf(engine.values(run)).resolves.toEqualTypeOf<Readonly<Record<string, unknown>>>()
  const snapshot = await run.status()
  expectTypeOf(snapshot.values).toEqualTypeOf<Readonly<Record<string, unknown>>>()
  expectTypeOf(snapshot.steps[0]!.progress?.done).toEqualTypeOf<number | undefined>()
})
