import type { Direction, EndStatus, RunStatus, SkipReason, StoreNotice, Wake } from '../../adapter/index.ts'
import type { SerialisedError } from '../../cause.ts'
import { systemClock } from '../../clock.ts'
import type { Logger } from '../../logger.ts'
import { watchAnswer } from '../../thenable.ts'
import type { Context } from './context.ts'
import { within } from './runtime.ts'
import type { WorkflowStep } from './workflow-steps.ts'

/** The run of an event. */
export interface RunIdentity {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly key: string | undefined
  readonly tags: readonly string[]
}

/** A run's new status. */
export interface RunEvent extends RunIdentity {
  readonly status: RunStatus
  /** Milliseconds from the run's creation, or from its start time if later, until now, by the store's clock. Includes waits and pauses. */
  readonly durationMs: number
}

/** The events for a run's new status. */
export const RUN_EVENTS = [
  'run.completed',
  'run.compensating',
  'run.failed',
  'run.compensated',
  'run.cancelled',
  'run.compensation_failed',
  'run.parked',
  'run.ended',
  'run.paused',
  'run.resumed',
] as const satisfies readonly (keyof EngineEvents)[]

export interface StepEvent {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly step: string
  readonly direction: Direction
  /** The attempt's number, as the handler sees it. */
  readonly attempt: number
  readonly workerId: string
}

/** An attempt whose outcome is recorded. */
export interface SettledStepEvent extends StepEvent {
  /** From the begin of the attempt until its outcome was recorded, in milliseconds. 0 if it was released before it began. */
  readonly durationMs: number
  /** How long the step had been due when it was claimed, in milliseconds, by the store's clock. 0 if it was handed over at once. */
  readonly waitedMs: number
}

/** A failed attempt. */
export interface FailedStepEvent extends SettledStepEvent {
  /** The error as it is stored. */
  readonly error: SerialisedError
  /** What the handler threw, with its stack. An error of Belay's for a timeout, an output that cannot be stored, or a lost worker. */
  readonly thrown: unknown
}

/** The events of an engine, for what happens in this process. They never contain payloads. */
export type EngineEvents = {
  /** This process created a run. Not emitted for a run in a caller's transaction, which may be rolled back. */
  'run.started': RunIdentity
  'run.completed': RunEvent
  /** The run failed, was cancelled or missed its deadline: it drains, then it is undone. Emitted again when an operator resumes its paused undo. */
  'run.compensating': RunEvent
  'run.failed': RunEvent
  'run.compensated': RunEvent
  'run.cancelled': RunEvent
  /** Its undo is parked: an operator must repair it. */
  'run.compensation_failed': RunEvent
  /** A step of the run failed for good after a completed pivot: an operator must retry or skip it. Emitted for each such step. */
  'run.parked': RunEvent
  /** The run has ended with the given `status`. Emitted after the event of that status. */
  'run.ended': RunEvent
  /** An operator paused the run through this engine. */
  'run.paused': RunEvent
  /** An operator made the run go forward through this engine, after a pause or after its end. */
  'run.resumed': RunEvent
  /** An operator acted on a run through this engine. `action` is the word in the run's history. */
  'operator.acted': {
    readonly runId: string
    readonly action: string
    readonly step: string | undefined
    readonly by: string | undefined
    readonly reason: string | undefined
  }
  'step.started': StepEvent
  /**
   * The store has a value that the step published under `key`, or its progress if `key` is undefined. Values that came faster than they were sent, and
   * those of transactional steps, have no event.
   */
  'step.published': StepEvent & { readonly key: string | undefined }
  'step.completed': SettledStepEvent
  'step.compensated': SettledStepEvent
  /** The definition skipped the step: its handler was not called. */
  'step.skipped': SettledStepEvent & { readonly reason: SkipReason }
  /** The step began to wait, without a worker: until the time in `wake`, or for its signal if `wake` is undefined. */
  'step.waiting': SettledStepEvent & { readonly wake: Wake | undefined }
  'step.retrying': FailedStepEvent & { readonly delayMs: number }
  /** `continues`: the run goes on, because the step has `onFailure: 'continue'`. */
  'step.failed': FailedStepEvent & { readonly continues: boolean }
  'step.compensation_failed': FailedStepEvent
  /** The worker released the step. This does not count as a failure. */
  'step.released': SettledStepEvent
  /**
   * A result arrived after its attempt had ended: the worker had lost its lease, the attempt had timed out, or the worker had released the step.
   * Nothing was written.
   */
  'step.discarded': StepEvent & { readonly reason: 'lease_lost' | 'timed_out' | 'released' }
  /** This worker was declared dead and lost its steps. It continues under a new id. */
  'lease.lost': { readonly workerId: string; readonly steps: number }
  /** The store had leased steps to this worker, but the answer was lost. The worker runs them now. */
  'lease.adopted': { readonly workerId: string; readonly steps: number }
  /** An outcome could not be recorded for some seconds, because another open transaction has locked a row of its run. The worker keeps trying. */
  'step.held_up': StepEvent
  /** The adapter noticed something that an operator should know. */
  'store.notice': Omit<StoreNotice, 'error'>
  /** This worker returned a dead worker's step to the queue. */
  'step.recovered': {
    readonly runId: string
    readonly workflow: string
    readonly version: number
    readonly step: string
    readonly kind: WorkflowStep['kind']
    readonly direction: Direction
    /** The lost attempt: its number, its idempotency key, and when it was claimed, by the store's clock. */
    readonly attempt: number
    readonly idempotencyKey: string
    readonly startedAt: Date | undefined
    readonly losses: number
  }
  'worker.started': { readonly workerId: string }
  'worker.lost': { readonly workerId: string }
  'worker.stopped': { readonly workerId: string }
  /** This process deleted ended runs, with everything that belongs to them. */
  'runs.pruned': { readonly pruned: number; readonly statuses: readonly EndStatus[] }
  /** This process released keys of ended runs. */
  'runs.keys_released': { readonly released: number }
  'store.unavailable': { readonly during: string; readonly message: string }
  'store.recovered': { readonly during: string }
  /** Background work failed unexpectedly. The engine continues; please investigate. */
  error: { readonly during: string; readonly error: unknown }
}

// A record, so that the compiler reports a missing name.
const IS_EVENT: Readonly<Record<keyof EngineEvents, true>> = {
  'run.started': true,
  'run.completed': true,
  'run.compensating': true,
  'run.failed': true,
  'run.compensated': true,
  'run.cancelled': true,
  'run.compensation_failed': true,
  'run.parked': true,
  'run.ended': true,
  'run.paused': true,
  'run.resumed': true,
  'operator.acted': true,
  'step.started': true,
  'step.published': true,
  'step.completed': true,
  'step.compensated': true,
  'step.skipped': true,
  'step.waiting': true,
  'step.retrying': true,
  'step.failed': true,
  'step.compensation_failed': true,
  'step.released': true,
  'step.discarded': true,
  'step.held_up': true,
  'step.recovered': true,
  'lease.lost': true,
  'lease.adopted': true,
  'store.notice': true,
  'store.unavailable': true,
  'store.recovered': true,
  'worker.started': true,
  'worker.lost': true,
  'worker.stopped': true,
  'runs.pruned': true,
  'runs.keys_released': true,
  error: true,
}

/** The names of all events. */
export const EVENT_NAMES = Object.keys(IS_EVENT) as readonly (keyof EngineEvents)[]

export type EventListener<Name extends keyof EngineEvents> = (event: EngineEvents[Name]) => void

/** How long closing waits for listeners. */
const LISTENERS_MS = 1_000

/** For how many calls of listeners it waits: those that hang must not add up. */
const WORKING_MAX = 10_000

/** Calls listeners, each in a context of its own. One that throws, or returns a promise that rejects, is logged and does not affect the others. */
export class EventHub {
  readonly #listeners = new Map<keyof EngineEvents, Set<(event: never) => void>>()
  /** What listeners that returned a promise still do. */
  readonly #working = new Set<Promise<void>>()
  readonly #log: Logger
  readonly #context: Context

  constructor(log: Logger, context: Context) {
    this.#log = log
    this.#context = context
  }

  on<Name extends keyof EngineEvents>(name: Name, listener: EventListener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    // Wrapped, so that a function given twice counts as two listeners that are removed separately.
    const own: EventListener<Name> = (event) => listener(event)
    this.#listeners.set(name, listeners.add(own))
    return () => listeners.delete(own)
  }

  /** Tells whether an event has listeners. Events of every step are created only then. */
  has(name: keyof EngineEvents): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  emit<Name extends keyof EngineEvents>(name: Name, event: EngineEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      const failed = (error: unknown) =>
        this.#log.error(
          `A listener of "${name}" failed. That changes nothing else: let it catch its own errors.`,
          { error },
        )
      try {
        const call = listener as (event: EngineEvents[Name]) => unknown
        this.#context.run(() => this.#watch(call(event), failed))
      } catch (error) {
        failed(error)
      }
    }
  }

  /** Resolves once no listener works any more, or after a second of the process, whatever the store’s clock says: a listener may hang. */
  settled(): Promise<void> {
    const end = async () => {
      while (this.#working.size > 0) await Promise.all(this.#working)
    }
    return within(systemClock, LISTENERS_MS, end())
  }

  #watch(answer: unknown, failed: (error: unknown) => void): void {
    const work = watchAnswer(answer, failed)?.then(() => void this.#working.delete(work!))
    if (work !== undefined && this.#working.size < WORKING_MAX) this.#working.add(work)
  }
}
