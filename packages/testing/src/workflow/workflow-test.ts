import type {
  Explanation,
  InputOf,
  OutputsOf,
  ReceivesOf,
  RunHandle,
  RunSnapshot,
  WorkflowDefinition,
} from '@belay/workflow'
import type { Duration } from '@belay/workflow/adapter'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import type { MemoryAdapter } from '../memory/adapter.ts'
import type { HandlerCall } from './script.ts'
import type { LimitOptions, TestArguments } from './test-options.ts'
import { TestedRun } from './tested-run.ts'
import type { CrashOptions, FailOptions, Stub, StubOutput, TestedStep } from './tested-steps.ts'

/** A workflow under test: one run, its workers, and their time. Made by {@link testWorkflow}. */
export interface WorkflowTest<Outputs, Sent> extends AsyncDisposable {
  /** The time of everything here. Stands still until one of the calls below moves it. */
  readonly clock: VirtualClock
  /** The store, for engines of the test's own. */
  readonly adapter: MemoryAdapter
  /** Starts the run, and lets happen what needs no time. The other calls start it too. Further calls return the same handle. */
  start(): Promise<RunHandle<Outputs, Sent>>
  /**
   * Moves time until the run has ended, and resolves to its outputs.
   *
   * @throws RunFailedError like `result()`; an error that explains what the run waits for if no time would end it, or not within `limit`.
   */
  run(options?: LimitOptions): Promise<Outputs>
  /** Moves time until the run has ended, however it ends, or until it is parked. Resolves to its state. Throws like {@link run} if it does neither. */
  end(options?: LimitOptions): Promise<RunSnapshot>
  /** Moves time forward: everything that is due happens at its instant. */
  advance(duration: Duration): Promise<void>
  /** Moves time forward to an instant. */
  advanceTo(instant: Date): Promise<void>
  /** The run and its steps, as they are now. */
  status(): Promise<RunSnapshot>
  /** What the run waits for. */
  explain(): Promise<Explanation>
  /** Sends a signal, before or while the step waits for it. */
  readonly signal: RunHandle<Outputs, Sent>['signal']
  readonly approve: RunHandle<Outputs, Sent>['approve']
  readonly reject: RunHandle<Outputs, Sent>['reject']
  readonly cancel: RunHandle<Outputs, Sent>['cancel']
  /** Replaces a handler. */
  stub<Name extends TestedStep<Outputs>>(step: Name, handler: Stub<StubOutput<Outputs, Name>>): void
  /** Replaces a compensation. */
  stubUndo(step: TestedStep<Outputs>, handler: Stub<unknown>): void
  /** Makes the step fail: by default for good, or with `error` and with `times` as often as said, so that it is retried. */
  fail(step: TestedStep<Outputs>, error?: unknown, options?: FailOptions): void
  /** Makes the step's compensation fail. */
  failUndo(step: TestedStep<Outputs>, error?: unknown, options?: FailOptions): void
  /** Kills the worker that runs the step. Another one starts, and takes over once the lease of the dead one is over. */
  crash(step: TestedStep<Outputs>, options?: CrashOptions): void
  /** Kills the worker that runs the step's compensation. */
  crashUndo(step: TestedStep<Outputs>, options?: CrashOptions): void
  /** Handlers and compensations in the order in which they returned, like `['reserve', 'charge', 'undo charge']`. */
  readonly effects: readonly string[]
  /** Every call of a handler or a compensation. */
  readonly calls: readonly HandlerCall[]
  /** Stops the worker. Not needed: nothing here holds a process. */
  close(): Promise<void>
}

/**
 * Tests a workflow on virtual time, without a database and in any test framework: a worker, a run, and what shall happen to them.
 *
 * `const test = testWorkflow(order, { input }); test.fail('charge'); await test.end(); test.effects`
 */
export function testWorkflow<Definition extends WorkflowDefinition>(
  definition: Definition,
  ...[options]: TestArguments<InputOf<Definition>>
): WorkflowTest<OutputsOf<Definition>, ReceivesOf<Definition>> {
  // Names and outputs are checked by the compiler; at run time by the definition.
  return new TestedRun(definition, options) as unknown as WorkflowTest<
    OutputsOf<Definition>,
    ReceivesOf<Definition>
  >
}
