import type { RunRecord, StepRecord, UndoRecord } from '@belay/workflow/adapter'
import { beforeEach, describe, expect, test } from 'vitest'
import { memoryHarness } from '../../src/conformance/harness.ts'
import { Scenario } from '../../src/conformance/index.ts'
import {
  assertInvariants,
  checkInvariants,
  type Dump,
  memory,
  type RunDump,
  readDump,
} from '../../src/index.ts'

/** Three runs of a → b, c → d: one half-way forward, one half-way back, one completed. A worker holds c of the first. */
async function dumpOfThree(): Promise<{ adapter: ReturnType<typeof memory>; dump: Dump }> {
  const adapter = memory()
  const given = new Scenario(memoryHarness(adapter))
  const graph = await given.graph('diamond', { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] })
  const [completed, undoing, forward] = [
    await given.start(graph),
    await given.start(graph),
    await given.start(graph),
  ]
  const worker = await given.worker()
  for (const run of [completed, undoing, forward]) await worker.complete(run, 'a')
  for (const run of [completed, undoing]) await worker.complete(run, 'b', 'c')
  await worker.complete(completed, 'd')
  await worker.fail(undoing, 'd')
  await given.undo(undoing)
  await worker.compensate(undoing, 'b')
  await worker.complete(forward, 'b')
  return { adapter, dump: adapter.dump() }
}

const [COMPLETED, UNDOING, FORWARD] = [0, 1, 2]
const [A, B, C, D] = [0, 1, 2, 3]

type Change = (dump: Dump) => Dump

const step =
  (run: number, number: number, change: Partial<StepRecord>): Change =>
  (dump) =>
    replaceRun(dump, run, (old) => ({
      ...old,
      steps: old.steps.map((row) => (row.step === number ? { ...row, ...change } : row)),
    }))

const record =
  (run: number, change: Partial<RunRecord>): Change =>
  (dump) =>
    replaceRun(dump, run, (old) => ({ ...old, run: { ...old.run, ...change } }))

const stored =
  (run: number, change: Partial<NonNullable<RunDump['stored']>>): Change =>
  (dump) =>
    replaceRun(dump, run, (old) => ({ ...old, stored: { ...old.stored!, ...change } }))

function replaceRun(dump: Dump, run: number, change: (old: RunDump) => RunDump): Dump {
  return { ...dump, runs: dump.runs.map((old, position) => (position === run ? change(old) : old)) }
}

const UNDO: UndoRecord = {
  attempts: 1,
  failures: 0,
  losses: 0,
  startedAt: 1,
  finishedAt: 1,
  error: null,
  skipped: false,
}

const BROKEN: Readonly<Record<string, Change>> = {
  definition_exists: (dump) => ({ ...dump, definitions: [] }),
  steps_are_those_of_the_definition: (dump) =>
    replaceRun(dump, FORWARD, (old) => ({ ...old, steps: old.steps.slice(1) })),
  counters_not_negative: step(FORWARD, D, { openDependencies: -1 }),
  attempts_cover_failures_and_losses: step(FORWARD, C, { failures: 2 }),
  fence_covers_attempts: step(FORWARD, C, { attempts: 9 }),
  undo_told_in_an_undo_only: step(UNDOING, A, { undo: null }),
  attempts_of_the_undo_cover_failures_and_losses: step(UNDOING, A, { undo: { ...UNDO, failures: 2 } }),
  undo_finished_after_started: step(UNDOING, A, { undo: { ...UNDO, startedAt: 2 } }),
  undone_has_an_attempt: step(UNDOING, C, { status: 'compensated', undo: { ...UNDO, attempts: 0 } }),
  undone_has_finished_at: step(UNDOING, C, { status: 'compensated', undo: { ...UNDO, finishedAt: null } }),
  pending_waits_for_something: step(FORWARD, D, { openDependencies: 0 }),
  ready_has_no_worker: step(FORWARD, C, { status: 'ready' }),
  running_has_a_worker: step(FORWARD, C, { workerId: null }),
  running_waits_for_nothing: step(FORWARD, C, { openDependencies: 1 }),
  running_has_not_finished: step(FORWARD, C, { finishedAt: Number.MAX_SAFE_INTEGER }),
  ended_has_an_attempt: step(COMPLETED, D, { attempts: 0 }),
  ended_has_finished_at: step(COMPLETED, D, { finishedAt: null }),
  finished_after_started: step(COMPLETED, D, { finishedAt: 0 }),
  failed_has_an_error: step(UNDOING, D, { error: null }),
  undo_of_in_an_undo_only: step(FORWARD, A, { undoOf: 'completed' }),
  waiting_has_no_worker_and_a_beginning: step(FORWARD, C, { status: 'waiting', workerId: null }),
  waiting_has_no_signal: step(FORWARD, C, {
    status: 'waiting',
    workerId: null,
    waitingSince: 1,
    signalledAt: 1,
  }),
  no_output_without_completion: step(FORWARD, D, { output: '1' }),
  ended_run_has_finished_at: record(COMPLETED, { finishedAt: null }),
  run_finished_after_created: record(COMPLETED, { createdAt: Number.MAX_SAFE_INTEGER }),
  live_run_has_no_finished_at: record(FORWARD, { finishedAt: 1 }),
  ended_run_has_no_open_step: record(UNDOING, { status: 'compensated' }),
  stopped_run_has_a_cause: record(UNDOING, { cause: null }),
  completed_run_has_completed_steps: record(FORWARD, { status: 'completed', finishedAt: 1 }),
  run_completes_with_its_last_step: record(COMPLETED, { status: 'running', finishedAt: null }),
  failed_run_undid_nothing: record(UNDOING, { status: 'failed', finishedAt: 1 }),
  parked_iff_an_undo_failed: record(UNDOING, { status: 'compensation_failed' }),
  stop_says_why_it_stopped: stored(UNDOING, { stop: null }),
  undo_ends_stopped_runs_only: stored(FORWARD, { endsAs: 'failed' }),
  ended_run_has_no_open_steps_count: stored(COMPLETED, { openSteps: 1 }),
  open_steps_count_open_undos: stored(UNDOING, { openSteps: 1 }),
  open_steps_count_open_sinks: stored(FORWARD, { openSteps: 2 }),
  nothing_open_once_the_undo_has_begun: step(UNDOING, D, { status: 'pending', openDependencies: 1 }),
  running_run_has_no_failed_step: step(FORWARD, B, { status: 'cancelled' }),
  open_dependencies_count_is_right: step(FORWARD, D, { openDependencies: 2 }),
  started_after_its_dependencies: step(FORWARD, D, { status: 'skipped' }),
  started_no_earlier_than_its_dependencies_ended: step(FORWARD, A, { finishedAt: Number.MAX_SAFE_INTEGER }),
  undo_started_no_earlier_than_its_dependents_were_undone: step(UNDOING, A, {
    undo: { ...UNDO, startedAt: 1, finishedAt: 1 },
  }),
  run_ends_no_earlier_than_its_steps: record(COMPLETED, { finishedAt: 1 }),
  undone_in_a_stopped_run_only: step(FORWARD, A, { status: 'compensated', undoOf: 'completed', undo: UNDO }),
  undone_after_its_dependents: step(UNDOING, A, { status: 'compensated' }),
  undo_leased_after_its_dependents: step(UNDOING, A, { workerId: 'w' }),
  open_dependents_count_is_right: step(UNDOING, A, { openDependencies: 2 }),
  compensated_run_left_nothing: record(UNDOING, { status: 'cancelled', finishedAt: 1 }),
  claimable_step_is_queued: (dump) => ({ ...dump, queue: [] }),
  queued_once: (dump) => ({ ...dump, queue: [...dump.queue!, ...dump.queue!] }),
  leased_step_has_a_known_worker: (dump) => ({ ...dump, workers: [] }),
}

describe('invariants', () => {
  let dump: Dump
  let adapter: ReturnType<typeof memory>

  beforeEach(async () => {
    const made = await dumpOfThree()
    adapter = made.adapter
    dump = made.dump
  })

  test('hold in a store that works correctly', async () => {
    const { definitions } = dump
    expect(checkInvariants(dump)).toEqual([])
    expect(checkInvariants(adapter)).toEqual([])
    expect(checkInvariants(await readDump(adapter, definitions))).toEqual([])
    expect(() => assertInvariants(adapter)).not.toThrow()
  })

  test.each(Object.entries(BROKEN))('%s is found broken, and named', (invariant, breakIt) => {
    const violations = checkInvariants(breakIt(claimableBack(dump)))
    expect(violations.map((violation) => violation.invariant)).toContain(invariant)
  })

  test('an assertion lists every violation with its run and step', () => {
    const broken = step(FORWARD, D, { openDependencies: 0 })(dump)
    const { runId } = dump.runs[FORWARD]!.run
    expect(() => assertInvariants(broken)).toThrow(
      new RegExp(`broken invariants:\\n- pending_waits_for_something: run ${runId} step 3`),
    )
  })

  test('facts that a dump does not show are not checked', () => {
    const { queue: _, workers: __, ...shown } = dump
    expect(checkInvariants(shown)).toEqual([])
  })
})

/** The undo of c is leased in the dump. Once requeued, it is claimable. */
function claimableBack(dump: Dump): Dump {
  const at = { runId: dump.runs[UNDOING]!.run.runId, step: C }
  const released = step(UNDOING, C, { workerId: null })(dump)
  return { ...released, queue: [{ ...at, availableAt: 0 }] }
}
