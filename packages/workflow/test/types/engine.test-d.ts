import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { define, type ReceivesNothing } from '../../src/definition/index.ts'
import {
  type ArchivedRun,
  type DroppedRuns,
  type Engine,
  type EngineOptions,
  type ReleasedKeys,
  type RunHandle,
  stopOnSignals,
} from '../../src/engine/index.ts'

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

test('findings tell by their type what else they know', async () => {
  for (const finding of (await engine.doctor({ pausedFor: '2h' })).findings) {
    expectTypeOf(finding.message).toBeString()
    if (finding.type === 'version_without_worker') expectTypeOf(finding.oldest).toEqualTypeOf<Date>()
    if (finding.type === 'overdue_steps') expectTypeOf(finding.freeSlots).toBeNumber()
    // @ts-expect-error: not every finding is about a step.
    finding.step
  }
})

test('development mode is a yes or a no, and only a drop needs to say which workflows', async () => {
  expectTypeOf<EngineOptions['dev']>().toEqualTypeOf<boolean | undefined>()
  const dropped = await engine.runs.dropForgotten()
  expectTypeOf(dropped).toEqualTypeOf<DroppedRuns>()
  engine.runs.dropForgotten({ workflow: ['a', 'b'], dryRun: true, by: 'ann', limit: 5 })
  // @ts-expect-error: there is no way to drop runs that have a worker.
  engine.runs.dropForgotten({ all: true })
})

test('approvals.pending() gives what approve() takes', async () => {
  const [first] = await engine.approvals.pending({ workflow: 'checked', step: 'boss', limit: 10 })
  if (first === undefined) return
  expectTypeOf(first.since).toEqualTypeOf<Date>()
  expectTypeOf(first.timeoutAt).toEqualTypeOf<Date | undefined>()
  expectTypeOf(first.key).toEqualTypeOf<string | undefined>()
  engine.approvals.pending({ before: first })
  // @ts-expect-error: runs are named by id.
  engine.approvals.pending({ before: 'first' })
  // @ts-expect-error: there is no such filter.
  engine.approvals.pending({ status: 'waiting' })
})

test('prune() insists on an age and on ends, and gives archives whole runs', () => {
  engine.prune({
    olderThan: '30d',
    statuses: ['completed', 'failed'],
    archive: (runs) => {
      expectTypeOf(runs).toEqualTypeOf<readonly ArchivedRun[]>()
    },
  })
  // @ts-expect-error: how old?
  engine.prune({})
  // @ts-expect-error: nothing that goes on is ever pruned.
  engine.prune({ olderThan: '1d', statuses: ['running'] })
  expectTypeOf(engine.runs.releaseKeys({ olderThan: '1d' })).resolves.toEqualTypeOf<ReleasedKeys>()
})

test('an engine stops on the signals of what looks like a process', () => {
  const looksLikeIt = { on: () => {}, off: () => {}, exit: () => {} }

  expectTypeOf(stopOnSignals(engine, looksLikeIt, { signals: ['SIGTERM'] })).toEqualTypeOf<() => void>()
  // @ts-expect-error: nobody can listen to this one.
  stopOnSignals(engine, looksLikeIt, { signals: ['SIGKILL'] })
})
