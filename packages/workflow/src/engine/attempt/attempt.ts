import {
  type Claim,
  movesBefore,
  type RunPayloads,
  type StepPayloads,
  type StepTransaction,
} from '../../adapter/index.ts'
import type { RunCause, SerialisedError } from '../../cause.ts'
import type { Timer } from '../../clock.ts'
import type { CompensationContext, StepContext } from '../../definition/handler.ts'
import type { RetryPolicy, StepDefinition, TransactionPolicy } from '../../definition/step.ts'
import type { Wait } from '../../definition/wait.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { presentable } from '../../thrown.ts'
import { fromJsonText, type PayloadOwner, toJsonText } from '../base/payload.ts'
import type { ForwardPayloads, PayloadCache } from '../base/payload-cache.ts'
import type { Runtime } from '../base/runtime.ts'
import { type TimeLimit, timeLimit } from '../base/time-limit.ts'
import { type AttemptEnd, type Interruption, poisonError } from '../decisions/decide.ts'
import { decideWait, type WaitAnswer } from '../decisions/decide-wait.ts'
import { owesUndo } from '../decisions/plan-undo.ts'
import { handlerContext } from './handler-context.ts'
import type { LossyOutputs } from './lossy-output.ts'

/** How long a handler that has timed out may take to heed its signal before its worker stops waiting for it. The timeout itself, if shorter. */
const TIMEOUT_GRACE_MS = 5_000

/** What all attempts of a session have in common. */
export interface AttemptParts {
  readonly runtime: Runtime
  readonly payloads: PayloadCache
  readonly payloadMaxBytes: number
  readonly lossyOutputs: LossyOutputs
  readonly log: Logger
  /** The handler is about to be called. */
  readonly onCall: (attempt: Attempt) => void
  /** The handler ended after its attempt had timed out. */
  readonly onLateResult: (attempt: Attempt) => void
}

/** How a worker came by a claim; `found`: its answer had been lost. */
export type ClaimOrigin = 'queue' | 'handed back' | 'undo begun' | 'found'

/** `relay`: the step only keeps the undo's order and has nothing to call. */
export type Performance = AttemptEnd | { readonly type: 'relay' }

/**
 * One attempt of one step, from claim to outcome: read its payloads → is it poison? → call its handler under a timeout and a signal →
 * serialise what it returned. Deciding what follows, and recording it, is the session's.
 *
 * There are a hundred thousand a second of these: nothing is made that is not needed, and nothing awaited that is at hand.
 */
export class Attempt {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  /** `queued` until its handler is about to be called; `settling` once its outcome is decided. */
  phase: 'queued' | 'running' | 'settling' = 'queued'
  /** Instant of the engine's clock. */
  startedAt = 0
  readonly origin: ClaimOrigin
  readonly #parts: AttemptParts
  readonly #controller = new AbortController()
  #payloads: ForwardPayloads | undefined
  /** Read only where the step's own row matters: in an undo, a wait, and a retry that has a window. */
  #stored: RunPayloads | undefined
  #storedAt = 0
  /** What follows from what the handler of a step that waits gave back. */
  #judge: ((returned: unknown) => WaitAnswer) | undefined
  #interrupted = false
  #called = false
  #cut: () => void = () => {}
  #isCutOff = false
  #cutOff: AbortController | undefined
  #interruption: Interruption | undefined

  constructor(
    claim: Claim,
    definition: WorkflowDefinition,
    parts: AttemptParts,
    origin: ClaimOrigin = 'queue',
  ) {
    this.claim = claim
    this.definition = definition
    this.step = definition.steps[claim.step]!
    this.#parts = parts
    this.origin = origin
  }

  /** Steps that may become ready when this attempt ends well, by number; in an undo, the steps it depended on. */
  get dependents(): readonly number[] {
    const { graph } = this.definition
    return (this.claim.direction === 'undo' ? graph.dependencies : graph.dependents)[this.claim.step]!
  }

  /** How its handler is to be called in a transaction; null when it needs none, or is not to be called at all. */
  get transaction(): TransactionPolicy | null {
    const { step, claim } = this
    if (claim.direction === 'forward') return step.transaction
    return this.#owesUndo() ? (step.compensation?.transaction ?? null) : null
  }

  /** Its handler was called, and may have taken effect. */
  get isBegun(): boolean {
    return this.#called
  }

  get isInterrupted(): boolean {
    return this.#interrupted
  }

  /** How long ago the first attempt of this series of failures began, this one included. */
  get failingMs(): number {
    const now = this.#parts.runtime.clock.now()
    const since = this.#stored === undefined ? null : this.#own(this.#stored).failingSince
    if (this.claim.failures === 0 || since === null) return now - this.startedAt
    return this.#stored!.now - since + (now - this.#storedAt)
  }

  /** Fires the handler's signal. Only the first reason counts. */
  interrupt(reason: BelayError): void {
    if (this.#interrupted) return
    this.#interrupted = true
    if (reason.code === 'run_stopping' || reason.code === 'worker_stopping') this.#interruption = reason.code
    this.#controller.abort(reason)
  }

  /** Finds what the handler is to be called with. A promise when it must be read; it rejects when that fails, or with `unknown_run`. */
  prepare(): Promise<void> | undefined {
    const { claim, definition } = this
    const dependencies = definition.graph.dependencies[claim.step]!
    if (claim.direction === 'undo') {
      if (!this.#needsRowForUndo || this.#knowsForUndo(dependencies)) return undefined
      return this.#readWithOwn(dependencies)
    }
    const hasWindow = claim.failures > 0 && this.step.retry.forMs !== null
    if (this.step.wait !== null || hasWindow) return this.#readWithOwn(dependencies)
    // A step that was sent on its way again, perhaps by another process, must not see what this one remembers of before.
    if (movesBefore(claim) > 0) return this.#readForward(dependencies)
    this.#payloads = this.#parts.payloads.known(claim.runId, dependencies)
    return this.#payloads === undefined ? this.#readForward(dependencies) : undefined
  }

  /** Calls the handler, or finds out why not. Once prepared. Ends at once unless there is something to wait for. */
  perform(tx?: StepTransaction): Performance | Promise<Performance> {
    this.phase = 'running'
    this.startedAt = this.#parts.runtime.clock.now()
    // Interrupted before its turn came: the handler is not called at all.
    if (this.#interrupted) return { type: 'given_up' }
    const poison = poisonError(this.claim, this.step)
    if (poison !== undefined) return { type: 'threw', error: poison }
    if (this.claim.direction === 'forward') {
      return this.step.wait === null ? this.#call(this.step.run, this.step, tx) : this.#look(this.step.wait)
    }
    const { compensation } = this.step
    if (!this.#owesUndo() || compensation === null) return { type: 'relay' }
    return this.#call(compensation.run as (context: StepContext) => unknown, compensation, tx)
  }

  /** Performs it in an open transaction, any number of times. Ends when it is cut off, even if its handler goes on. */
  performWithin(tx: StepTransaction): Promise<Performance> {
    return new Promise((resolve) => {
      this.#cut = () => resolve({ type: 'given_up' })
      void Promise.resolve(this.perform(tx)).then(resolve)
    })
  }

  /** Fires when it is cut off. Made when it is first asked for: most attempts have no transaction. */
  get cutOffSignal(): AbortSignal {
    this.#cutOff ??= new AbortController()
    if (this.#isCutOff) this.#cutOff.abort()
    return this.#cutOff.signal
  }

  /** Takes the transaction, if there is one or it waits for one, from a handler that is not waited for any more. */
  cutOff(): void {
    this.#isCutOff = true
    this.#cutOff?.abort()
    this.#cut()
  }

  #owesUndo(): boolean {
    const { compensate } = this.definition.record.shape.steps[this.claim.step]!
    const succeeded = this.#stored !== undefined && this.#own(this.#stored).succeeded
    // Only started steps are ever planned under 'started', so that need not be asked again.
    return owesUndo({ status: this.claim.undoOf ?? 'completed', started: true, succeeded }, compensate)
  }

  /** Whether its undo is only to keep the order is known without its row, but for a step whose effect may be there all the same. */
  get #needsRowForUndo(): boolean {
    if (this.#owesUndo()) return true
    return this.step.compensation !== null && this.claim.undoOf !== 'completed'
  }

  async #readForward(dependencies: readonly number[]): Promise<void> {
    this.#payloads = await this.#parts.payloads.read(this.claim.runId, dependencies)
    if (this.#payloads === undefined) throw this.#runIsGone()
  }

  /**
   * Everything the undo of a completed step is called with is at hand where one worker ran all of its run. A run may have been sent forward
   * again since, and stopped by another cause: so the first undo that this worker gets of a run reads, and only those that a settlement
   * hands it next, of steps that ran once, may not.
   */
  #knowsForUndo(dependencies: readonly number[]): boolean {
    const { runId, step, undoOf } = this.claim
    const { payloads } = this.#parts
    const current = this.origin === 'handed back' && undoOf === 'completed' && movesBefore(this.claim) === 1
    const cause = current ? payloads.knownCause(runId) : undefined
    const known = cause === undefined ? undefined : payloads.known(runId, [...dependencies, step])
    if (cause === undefined || known === undefined) return false
    const output = known.outputs.at(-1) ?? null
    const now = this.#parts.runtime.clock.now()
    this.#stored = { runId, input: known.input, cause, now, steps: [{ ...UNREAD, step, output }] }
    this.#payloads = { input: known.input, outputs: known.outputs.slice(0, -1) }
    return true
  }

  async #readWithOwn(dependencies: readonly number[]): Promise<void> {
    const { runId, step } = this.claim
    const stored = await this.#parts.payloads.load({ runId, steps: [...dependencies, step] })
    if (stored === undefined) throw this.#runIsGone()
    const byStep = new Map(stored.steps.map((found) => [found.step, found.output]))
    this.#parts.payloads.rememberCause(runId, stored.cause)
    this.#stored = stored
    this.#storedAt = this.#parts.runtime.clock.now()
    this.#payloads = {
      input: stored.input,
      outputs: dependencies.map((dependency) => byStep.get(dependency) ?? null),
    }
  }

  /** A step that waits: looks whether it may go on, and asks its handler when only that can tell. */
  #look(wait: Wait): AttemptEnd | Promise<AttemptEnd> {
    const stored = this.#stored!
    const row = { ...this.#own(stored), now: stored.now }
    const next = decideWait({ runId: this.claim.runId, step: this.step }, wait, row)
    if (next.type !== 'call') return this.#answered(next)
    this.#judge = next.judge
    return this.#call(next.handler, this.step, undefined)
  }

  #answered(answer: WaitAnswer): AttemptEnd {
    return answer.type === 'output' ? this.#serialised(answer.value) : answer
  }

  #own(stored: RunPayloads): StepPayloads {
    return stored.steps.find(({ step }) => step === this.claim.step)!
  }

  #call(
    handler: ((context: StepContext) => unknown) | null,
    policy: { readonly retry: RetryPolicy; readonly timeoutMs: number | null },
    tx: StepTransaction | undefined,
  ): AttemptEnd | Promise<AttemptEnd> {
    const limit = timeLimit(policy, this.failingMs)
    if (limit === 'over') return { type: 'threw', error: this.#retriesAreOver(policy.retry) }
    try {
      const context = this.#context()
      if (tx !== undefined) Object.assign(context, { tx })
      if (!this.#called) this.#parts.onCall(this)
      this.#called = true
      const returned = handler?.(context)
      return isThenable(returned)
        ? this.#settled(returned, limit, tx === undefined ? TIMEOUT_GRACE_MS : 0)
        : this.#returned(returned)
    } catch (error) {
      return this.#threw(error)
    }
  }

  #context(): StepContext {
    const { claim, definition } = this
    const context = handlerContext({
      claim,
      definition,
      payloads: this.#payloads!,
      controller: this.#controller,
      log: this.#parts.log,
    })
    return claim.direction === 'forward' ? context : Object.assign(context, this.#undoContext())
  }

  #undoContext(): Pick<CompensationContext, 'undoOf' | 'output' | 'error' | 'cause'> {
    const stored = this.#stored!
    const own = this.#own(stored)
    // What an operator skipped after it had succeeded is done, with the output that they gave.
    const completed = this.claim.undoOf === 'completed' || this.claim.undoOf === 'skipped'
    return {
      undoOf: completed ? 'completed' : (this.claim.undoOf as CompensationContext['undoOf']),
      output: completed ? fromJsonText(own.output) : undefined,
      error: completed ? undefined : (fromJsonText(own.error) as SerialisedError | undefined),
      cause: fromJsonText(stored.cause) as RunCause,
    }
  }

  /**
   * Waits for the handler's promise: until its timeout, then its signal fires, and for a grace after that. A handler that ends in the grace
   * has ended: nothing of it goes on beside the next attempt or the undo, and a result that it has is kept. Of one that does not, nobody
   * knows what it did. What is rolled back with its transaction needs no grace.
   */
  #settled(promise: PromiseLike<unknown>, limit: TimeLimit | null, graceMs: number): Promise<AttemptEnd> {
    const { clock } = this.#parts.runtime
    return new Promise((resolve) => {
      let timeout: BelayError | undefined
      let isOver = false
      let timer: Timer | undefined
      const giveUp = () => {
        isOver = true
        resolve({ type: 'threw', error: timeout })
      }
      const timeOut = ({ ms, option }: TimeLimit) => {
        timeout = this.#timeoutError({ ms, option })
        this.interrupt(timeout)
        const leftMs = Math.min(graceMs, ms)
        if (leftMs === 0) giveUp()
        else timer = clock.after(leftMs, giveUp)
      }
      if (limit !== null) timer = clock.after(limit.ms, () => timeOut(limit))
      const end = (ended: AttemptEnd) => {
        timer?.cancel()
        if (isOver) this.#parts.onLateResult(this)
        // It threw because it was told to stop, whatever it says.
        else
          resolve(timeout !== undefined && ended.type === 'threw' ? { type: 'threw', error: timeout } : ended)
      }
      const fail = (error: unknown) => end(this.#threw(error))
      try {
        // Not the promise's own `then`: it may be anybody's.
        Promise.resolve(promise).then((value) => end(this.#returned(value)), fail)
      } catch (error) {
        // A promise of the user's own making may throw when it is asked what it is.
        fail(error)
      }
    })
  }

  #threw(error: unknown): AttemptEnd {
    return { type: 'threw', error: presentable(error), interrupted: this.#interruption }
  }

  #returned(value: unknown): AttemptEnd {
    // What a compensation returns is nobody's input.
    if (this.claim.direction === 'undo') return { type: 'returned', output: null }
    if (this.#judge === undefined) return this.#serialised(value)
    try {
      return this.#answered(this.#judge(value))
    } catch (error) {
      return this.#threw(error)
    }
  }

  #serialised(value: unknown): AttemptEnd {
    if (value === undefined) return { type: 'returned', output: null }
    try {
      const output = toJsonText(value, this.#parts.payloadMaxBytes, () => this.#outputOwner())
      this.#parts.lossyOutputs.look(this.step, this.claim.runId, value, output!)
      return { type: 'returned', output }
    } catch (error) {
      // What a wait gives is no effect of anybody's.
      return this.step.wait === null ? { type: 'unstorable', error } : this.#threw(error)
    }
  }

  #outputOwner(): PayloadOwner {
    const { runId } = this.claim
    const step = this.step.name
    return { what: `Output of step "${step}" of run ${runId}`, runId, step }
  }

  #timeoutError({ ms, option }: TimeLimit): BelayError {
    const { runId } = this.claim
    const within =
      option === 'timeout' ? `its timeout of ${ms} ms` : `the ${ms} ms that were left of its \`retry.for\``
    return new BelayError(
      'step_timeout',
      `Step "${this.step.name}" of run ${runId} did not end within ${within}. Whether it took effect is unknown. Let the handler stop when its \`signal\` fires, or raise \`${option}\`.`,
      { runId, step: this.step.name, attempt: this.claim.attempt },
    )
  }

  /** A retry was due in time, and no worker took it in time. */
  #retriesAreOver({ forMs }: RetryPolicy): BelayError {
    const { runId } = this.claim
    // What is read of the step is of its way forward: that says nothing of its compensation.
    const error = this.claim.direction === 'forward' ? this.#own(this.#stored!).error : null
    const last = fromJsonText(error) as SerialisedError | undefined
    const failure = last === undefined ? '' : ` Its last failure was ${last.name}: ${last.message}.`
    return new BelayError(
      'retry_window_over',
      `Step "${this.step.name}" of run ${runId} is not tried again: its first failed attempt began more than ${forMs} ms ago, which is its \`retry.for\`, before a worker took the next one.${failure} Raise \`retry.for\`, or run more workers.`,
      { runId, step: this.step.name, attempt: this.claim.attempt },
    )
  }

  #runIsGone(): BelayError {
    const { runId } = this.claim
    return new BelayError('unknown_run', `Run ${runId} is not in the store any more.`, { runId })
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as { then?: unknown }).then === 'function'
}

/** What an undo is not called with. */
const UNREAD = {
  error: null,
  availableAt: null,
  waitingSince: null,
  signalledAt: null,
  failingSince: null,
  succeeded: false,
}
