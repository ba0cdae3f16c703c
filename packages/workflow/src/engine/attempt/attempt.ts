import type { Claim, StepTransaction } from '../../adapter/index.ts'
import type { RunCause, SerialisedError } from '../../cause.ts'
import type { CompensationContext, StepContext } from '../../definition/handler.ts'
import type { RetryPolicy, StepDefinition, TransactionPolicy } from '../../definition/step.ts'
import type { Wait } from '../../definition/wait.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { BelayError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { presentable } from '../../thrown.ts'
import { fromJsonText, type PayloadOwner, toJsonText } from '../base/payload.ts'
import { type TimeLimit, timeLimit } from '../base/time-limit.ts'
import { type AttemptEnd, type Interruption, poisonError } from '../decisions/decide.ts'
import { decideWait, type WaitAnswer } from '../decisions/decide-wait.ts'
import { retriesAreOver, timeoutError } from './attempt-errors.ts'
import { AttemptPayloads, type AttemptPayloadsParts } from './attempt-payloads.ts'
import { awaitHandler, isThenable } from './await-handler.ts'
import { handlerContext } from './handler-context.ts'
import type { LossyOutputs } from './lossy-output.ts'

/** How long a handler that has timed out may take to heed its signal before its worker stops waiting for it. The timeout itself, if shorter. */
const TIMEOUT_GRACE_MS = 5_000

/** What all attempts of a session have in common. */
export interface AttemptParts extends AttemptPayloadsParts {
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

/** `queued` until its handler is about to be called; `settling` once its outcome is decided. */
export type AttemptPhase = 'queued' | 'running' | 'settling'

/** `relay`: the step only keeps the undo's order and has nothing to call. */
export type Performance = AttemptEnd | { readonly type: 'relay' }

/**
 * One attempt of one step, from claim to outcome: read its payloads, refuse poison, call its handler under a timeout and a signal, serialise
 * what it returned. Deciding what follows, and recording it, is the session's.
 *
 * There are a hundred thousand a second of these: nothing is made that is not needed, and nothing awaited that is at hand.
 */
export class Attempt {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  /** Instant of the engine's clock. */
  startedAt = 0
  readonly origin: ClaimOrigin
  readonly #parts: AttemptParts
  readonly #payloads: AttemptPayloads
  readonly #controller = new AbortController()
  #phase: AttemptPhase = 'queued'
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
    this.origin = origin
    this.#parts = parts
    this.#payloads = new AttemptPayloads(this, parts)
  }

  get phase(): AttemptPhase {
    return this.#phase
  }

  /** Its outcome is decided: nothing that its handler still does counts. */
  decided(): void {
    this.#phase = 'settling'
  }

  /** The transaction that it was decided in was rolled back: it is undecided again. */
  undecided(): void {
    this.#phase = 'running'
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
    return this.#payloads.owesUndo ? (step.compensation?.transaction ?? null) : null
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
    return this.#payloads.failingMs(this.startedAt)
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
    return this.#payloads.prepare()
  }

  /** Calls the handler, or finds out why not. Once prepared. Ends at once unless there is something to wait for. */
  perform(tx?: StepTransaction): Performance | Promise<Performance> {
    this.#phase = 'running'
    this.startedAt = this.#parts.runtime.clock.now()
    // Interrupted before its turn came: the handler is not called at all.
    if (this.#interrupted) return { type: 'given_up' }
    const poison = poisonError(this.claim, this.step)
    if (poison !== undefined) return { type: 'threw', error: poison }
    if (this.claim.direction === 'forward') {
      return this.step.wait === null ? this.#call(this.step.run, this.step, tx) : this.#look(this.step.wait)
    }
    const { compensation } = this.step
    if (!this.#payloads.owesUndo || compensation === null) return { type: 'relay' }
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

  /** A step that waits: looks whether it may go on, and asks its handler when only that can tell. */
  #look(wait: Wait): AttemptEnd | Promise<AttemptEnd> {
    const { own, stored } = this.#payloads
    const row = { ...own, now: stored.now }
    const next = decideWait({ runId: this.claim.runId, step: this.step }, wait, row)
    if (next.type !== 'call') return this.#answered(next)
    this.#judge = next.judge
    return this.#call(next.handler, this.step, undefined)
  }

  #answered(answer: WaitAnswer): AttemptEnd {
    return answer.type === 'output' ? this.#serialised(answer.value) : answer
  }

  #call(
    handler: ((context: StepContext) => unknown) | null,
    policy: { readonly retry: RetryPolicy; readonly timeoutMs: number | null },
    tx: StepTransaction | undefined,
  ): AttemptEnd | Promise<AttemptEnd> {
    const limit = timeLimit(policy, this.failingMs)
    if (limit === 'over') return { type: 'threw', error: retriesAreOver(this, policy.retry, this.#lastError) }
    try {
      const context = this.#context()
      if (tx !== undefined) Object.assign(context, { tx })
      if (!this.#called) this.#parts.onCall(this)
      this.#called = true
      const returned = handler?.(context)
      if (!isThenable(returned)) return this.#returned(returned)
      return this.#awaited(returned, limit, tx === undefined ? TIMEOUT_GRACE_MS : 0)
    } catch (error) {
      return this.#threw(error)
    }
  }

  #context(): StepContext {
    const { claim, definition } = this
    const context = handlerContext({
      claim,
      definition,
      payloads: this.#payloads.forward,
      controller: this.#controller,
      log: this.#parts.log,
    })
    return claim.direction === 'forward' ? context : Object.assign(context, this.#undoContext())
  }

  #undoContext(): Pick<CompensationContext, 'undoOf' | 'output' | 'error' | 'cause'> {
    const { own, stored } = this.#payloads
    // What an operator skipped after it had succeeded is done, with the output that they gave.
    const completed = this.claim.undoOf === 'completed' || this.claim.undoOf === 'skipped'
    return {
      undoOf: completed ? 'completed' : (this.claim.undoOf as CompensationContext['undoOf']),
      output: completed ? fromJsonText(own.output) : undefined,
      error: completed ? undefined : (fromJsonText(own.error) as SerialisedError | undefined),
      cause: fromJsonText(stored.cause) as RunCause,
    }
  }

  /** Of its last failed attempt; what is read of the step is of its way forward, and says nothing of its compensation. */
  get #lastError(): SerialisedError | undefined {
    if (this.claim.direction === 'undo') return undefined
    return fromJsonText(this.#payloads.own.error) as SerialisedError | undefined
  }

  #awaited(promise: PromiseLike<unknown>, limit: TimeLimit | null, graceMs: number): Promise<AttemptEnd> {
    return awaitHandler(promise, {
      clock: this.#parts.runtime.clock,
      limit,
      graceMs,
      onTimeout: (over) => {
        const timeout = timeoutError(this, over)
        this.interrupt(timeout)
        return timeout
      },
      onLateResult: () => this.#parts.onLateResult(this),
      returned: (value) => this.#returned(value),
      threw: (error) => this.#threw(error),
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
}
