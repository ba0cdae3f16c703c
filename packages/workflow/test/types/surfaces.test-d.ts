import { expectTypeOf, test } from 'vitest'
import {
  type BulkResult,
  type Engine,
  type ExportedRun,
  type OfferedAction,
  type RunSnapshot,
  type RunSummary,
  type RunWithSteps,
  type StepRepair,
  type StepState,
  stepStates,
  type WorkflowStep,
  type WorkflowSummary,
} from '../../src/engine/index.ts'
import type { BelayErrorCode } from '../../src/errors.ts'

declare const engine: Engine

test('a list has states of steps only if it was asked for them', async () => {
  expectTypeOf(engine.runs.list({ steps: true, limit: 100 })).resolves.toEqualTypeOf<
    readonly RunWithSteps[]
  >()
  expectTypeOf(
    engine.runs.list({ version: 2, idPrefix: '01a20ed2', keyPrefix: 'order:', after: 'id' }),
  ).resolves.toEqualTypeOf<readonly RunSummary[]>()
  const [run] = await engine.runs.list()
  // @ts-expect-error: it was not asked for them.
  run!.steps
  // @ts-expect-error: a version is a number.
  await engine.runs.list({ version: '2' })
})

test('a run that was read gives the same states', async () => {
  const run = await engine.runs.get('id')
  expectTypeOf(stepStates(run!)).toEqualTypeOf<readonly StepState[]>()
  expectTypeOf<StepState['kind']>().toEqualTypeOf<WorkflowStep['kind']>()
  expectTypeOf<RunSnapshot['readAt']>().toEqualTypeOf<Date>()
  expectTypeOf(run!.steps[0]!.attemptsMax).toEqualTypeOf<number | undefined>()
  // @ts-expect-error: a run in a list has none.
  stepStates((await engine.runs.list())[0])
})

test('what may be done, what was repaired and what was refused can be told apart by code', async () => {
  const { steps } = await engine.explain('id')
  expectTypeOf(steps[0]!.actions).toEqualTypeOf<readonly OfferedAction[]>()
  expectTypeOf(
    engine.runs.handle('id').retryCompensation('charge', { reason: 'open' }),
  ).resolves.toEqualTypeOf<StepRepair>()
  const result = await engine.runs.retryMany(['id'], { onProgress: ({ matched }) => void matched })
  expectTypeOf(result).toEqualTypeOf<BulkResult>()
  expectTypeOf(result.refused[0]!.code).toEqualTypeOf<BelayErrorCode | undefined>()
  expectTypeOf(engine.runs.export({ payloads: true })).toEqualTypeOf<AsyncIterableIterator<ExportedRun>>()
})

test('what the store has and what this worker does are read without definitions', () => {
  expectTypeOf(engine.workflows.list()).resolves.toEqualTypeOf<readonly WorkflowSummary[]>()
  expectTypeOf(engine.workflows.get('name', 2)).resolves.not.toBeAny()
  expectTypeOf(engine.gauges()).not.toBeAny()
  expectTypeOf(engine.queue()).resolves.not.toBeAny()
  // @ts-expect-error: a version is a number.
  void engine.workflows.get('name', '2')
})
