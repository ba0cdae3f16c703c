import type { Direction, EndStatus, RunStatus, StoreNotice, Wake } from '../../adapter/index.ts'
import type { SerialisedError } from '../../cause.ts'
import type { Logger } from '../../logger.ts'

/** Which run an event is about. */
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
  /** From its start, or its start time if that is later, to now; milliseconds by the store's clock. Waits and pauses count. */
  readonly durationMs: number
}

/** Events that tell of a run's new status. */
export const RUN_EVENTS = [
  'run.completed',
  'run.compensating',
  'run.failed',
  'run.compensated',
  'run.cancelled',
  'run.compensation_failed',
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
  /** The try's number as the handler sees it. */
  readonly attempt: number
  readonly workerId: string
}

/** What an engine tells its listeners, as it happens in this process. Payloads are never part of an event. */
export type EngineEvents = {
  /** A run was created by this process; not told of one in a transaction of the caller's, which may be rolled back. */
  'run.started': RunIdentity
  'run.completed': RunEvent
  /** The run failed or was cancelled: it drains, then it is undone. Told again when an operator resumes its undo after a pause. */
  'run.compensating': RunEvent
  'run.failed': RunEvent
  'run.compensated': RunEvent
  'run.cancelled': RunEvent
  /** Its undo is parked: an operator must repair it. */
  'run.compensation_failed': RunEvent
  /** The run has ended, as `status` says: it completed, failed, was undone or was cancelled. Told after the event of that status. */
  'run.ended': RunEvent
  /** An operator paused it, by this engine. */
  'run.paused': RunEvent
  /** An operator lets it go forward, after a pause or after an end, by this engine. */
  'run.resumed': RunEvent
  /** An operator did something to a run, by this engine. `action` is the word that the run's history has for it. */
  'operator.acted': {
    readonly runId: string
    readonly action: string
    readonly step: string | undefined
    readonly by: string | undefined
    readonly reason: string | undefined
  }
  'step.started': StepEvent
  'step.completed': StepEvent & { readonly durationMs: number }
  'step.compensated': StepEvent & { readonly durationMs: number }
  /** The step waits, without a worker: until a time if `wake` says so, else for its signal. */
  'step.waiting': StepEvent & { readonly wake: Wake | undefined }
  'step.retrying': StepEvent & { readonly error: SerialisedError; readonly delayMs: number }
  'step.failed': StepEvent & { readonly error: SerialisedError }
  'step.compensation_failed': StepEvent & { readonly error: SerialisedError }
  /** The attempt was given back without being spent. */
  'step.released': StepEvent
  /** A result came after its attempt was over: the lease had moved on, it had timed out, or the worker had let go of it. Nothing was written. */
  'step.discarded': StepEvent & { readonly reason: 'lease_lost' | 'timed_out' | 'released' }
  /** This worker was presumed dead and lost all it held; it goes on under a new id. */
  'lease.lost': { readonly workerId: string; readonly steps: number }
  /** The store had leased steps to this worker without its hearing of it; it runs them now. */
  'lease.adopted': { readonly workerId: string; readonly steps: number }
  /** An outcome could not be recorded for some seconds, because somebody's open transaction holds a row of its run. It is tried on. */
  'step.held_up': StepEvent
  /** The adapter noticed something that an operator should know. */
  'store.notice': Omit<StoreNotice, 'error'>
  /** This worker gave back a step of a worker that died. */
  'step.recovered': {
    readonly runId: string
    readonly workflow: string
    readonly version: number
    readonly step: string
    readonly direction: Direction
    readonly losses: number
  }
  'worker.started': { readonly workerId: string }
  'worker.lost': { readonly workerId: string }
  'worker.stopped': { readonly workerId: string }
  /** Ended runs were deleted by this process, with all that belonged to them. */
  'runs.pruned': { readonly pruned: number; readonly statuses: readonly EndStatus[] }
  /** Keys of ended runs were released by this process. */
  'runs.keys_released': { readonly released: number }
  'store.unavailable': { readonly during: string; readonly message: string }
  'store.recovered': { readonly during: string }
  /** Something in the background failed in a way the engine did not expect. It goes on; look at it. */
  error: { readonly during: string; readonly error: unknown }
}

// A record, so that the compiler misses a name that is left out.
const IS_EVENT: Readonly<Record<keyof EngineEvents, true>> = {
  'run.started': true,
  'run.completed': true,
  'run.compensating': true,
  'run.failed': true,
  'run.compensated': true,
  'run.cancelled': true,
  'run.compensation_failed': true,
  'run.ended': true,
  'run.paused': true,
  'run.resumed': true,
  'operator.acted': true,
  'step.started': true,
  'step.completed': true,
  'step.compensated': true,
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

/** Every event there is. */
export const EVENT_NAMES = Object.keys(IS_EVENT) as readonly (keyof EngineEvents)[]

export type EventListener<Name extends keyof EngineEvents> = (event: EngineEvents[Name]) => void

/** Tells listeners; one that throws is logged and hinders nobody. */
export class EventHub {
  readonly #listeners = new Map<keyof EngineEvents, Set<(event: never) => void>>()
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  on<Name extends keyof EngineEvents>(name: Name, listener: EventListener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    // Wrapped, so that one function given twice is two listeners, each with its own way to stop.
    const own: EventListener<Name> = (event) => listener(event)
    this.#listeners.set(name, listeners.add(own))
    return () => listeners.delete(own)
  }

  /** Tells whether anybody listens. Events that come with every step are only made then. */
  has(name: keyof EngineEvents): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  emit<Name extends keyof EngineEvents>(name: Name, event: EngineEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        ;(listener as EventListener<Name>)(event)
      } catch (error) {
        this.#log.error(`A listener of "${name}" threw.`, { error })
      }
    }
  }
}
