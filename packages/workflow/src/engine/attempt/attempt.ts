import { type Claim, isItem, type LimitEntry, type StepTransaction } from '../../adapter/index.ts'
import type { Handler, StepContext } from '../../definition/handler.ts'
import type { StepDefinition, TransactionPolicy } from '../../definition/step.ts'
import type { Wait } from '../../definition/wait.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { BelayError } from '../../errors.ts'
import { isThenable } from '../../thenable.ts'
import { presentable } from '../../thrown.ts'
import { type TimeLimit, timeLimit } from '../base/time-limit.ts'
import { type AttemptEnd, poisonError } from '../decisions/decide.ts'
import { type BranchEnd, type BranchStep, judgeCase } from '../decisions/decide-branch.ts'
import type { WaitAnswer } from '../decisions/decide-wait.ts'
import { retriesAreOver, timeoutError } from './attempt-errors.ts'
import { type AttemptGate, gateOf } from './attempt-gate.ts'
import type { AttemptParts } from './attempt-parts.ts'
import { AttemptPayloads } from './attempt-payloads.ts'
import type { AttemptPhase, ClaimOrigin } from './attempt-phase.ts'
import { awaitHandler, belayCallsHandler, TIMEOUT_GRACE_MS } from './await-handler.ts'
import { nextLook } from './child-runs.ts'
import { CutOff } from './cut-off.ts'
import type { EnterStep, EntersEnd } from './enter-limits.ts'
import { dependentsOf, endOfPart, namedItem, stepOf } from './expansion.ts'
import { type HandlerCall, openedBy } from './handler-call.ts'
import { type ContextSource, contextOf } from './handler-context.ts'
import { HandlerSignal } from './handler-signal.ts'
import { joinedEnd } from './joined-items.ts'
import { roundHandler } from './rounds.ts'
import { serialisedEnd } from './serialised-output.ts'
import { SurroundedHandler } from './surrounded-handler.ts'
import { type Telling, tellingOf } from './telling.ts'

/**
 * One attempt of one step, from claim to outcome: read its payloads, refuse poison, call its handler under a timeout and a signal, serialise what
 * it returned. The session decides and records the outcome.
 *
 * A worker makes a hundred thousand of these a second: allocate nothing that may not be needed, and await nothing that is already there.
 */
export class Attempt implements ContextSource {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  /** Of an item or a round, with the item's name once its row was read. */
  step: StepDefinition
  /** When the attempt began, by the engine's clock. 0 before that. */
  startedAt = 0
  readonly origin: ClaimOrigin
  readonly #parts: AttemptParts<Attempt>
  readonly #payloads: AttemptPayloads
  readonly #signal = new HandlerSignal()
  #phase: AttemptPhase = 'queued'
  /** Interprets what the handler of a waiting step returned. */
  #judge: ((returned: unknown) => WaitAnswer | BranchEnd | EntersEnd) | undefined
  /** Undefined for a step that runs without a condition and without limits, and in an undo. */
  readonly #gate: AttemptGate | undefined
  entered: readonly LimitEntry[] = []
  #called = false
  #cutOff: CutOff | undefined
  #telling: Telling | undefined
  #surrounded: SurroundedHandler | undefined
  /** When its handler was called, or sent its newest heartbeat. */
  #aliveAt = 0

  constructor(
    claim: Claim,
    definition: WorkflowDefinition,
    parts: AttemptParts<Attempt>,
    origin: ClaimOrigin = 'queue',
  ) {
    this.claim = claim
    this.definition = definition
    this.step = isItem(claim.step) ? stepOf(definition, claim.step) : definition.steps[claim.step]!
    this.origin = origin
    this.#parts = parts
    this.#payloads = new AttemptPayloads(this, parts)
    this.#gate = gateOf(this, this.#payloads)
  }

  get phase(): AttemptPhase {
    return this.#phase
  }

  /** Its outcome is decided: later results of its handler are discarded. */
  decided(): void {
    this.#phase = 'settling'
  }

  /** The transaction that held its outcome was rolled back: the outcome is open again. */
  undecided(): void {
    this.#phase = 'running'
  }

  /** It is recorded that the step runs, or that it has entered its limits: the attempt waits for room again, and then goes on. */
  goOn(after: 'decided' | 'enters'): void {
    this.#phase = 'queued'
    this.#gate?.passed(after)
    this.#judge = undefined
  }

  /** Whether slots may be left when it has ended: its own, or that of its run. */
  get holdsSlots(): boolean {
    return this.step.limits !== null
  }

  /** The numbers of the steps that may become ready when this attempt succeeds: its dependents, or in an undo its dependencies. */
  get dependents(): readonly number[] {
    return dependentsOf(this)
  }

  /** The handler's transaction policy; null if it has none or is not called. */
  get transaction(): TransactionPolicy | null {
    const { step, claim } = this
    if (claim.direction === 'forward') return (this.#gate?.isOpen ?? true) ? step.transaction : null
    return this.#payloads.owesUndo ? (step.compensation?.transaction ?? null) : null
  }

  /** Whether its handler was called, so that it may have taken effect. */
  get isBegun(): boolean {
    return this.#called
  }

  get isInterrupted(): boolean {
    return this.#signal.isFired
  }

  /** What its handler told; undefined if it told nothing. */
  get telling(): Telling | undefined {
    return this.#telling
  }

  /** The time since the first attempt of this series of failures began; this attempt counts. */
  get failingMs(): number {
    return this.#payloads.failingMs(this.startedAt)
  }

  /** Fires the handler's signal. Only the first reason counts. */
  interrupt(reason: BelayError): void {
    this.#parts.runtime.context.run(() => this.#signal.fire(reason))
  }

  /** Finds the handler's payloads. Returns a promise only if it must read; that rejects if reading fails, or with `unknown_run`. */
  prepare(): Promise<void> | undefined {
    return this.#payloads.prepare()
  }

  /**
   * Calls the handler, unless there is a reason not to, in an async context of the attempt's own. Only after prepare(). Returns a promise only if there is
   * something to await.
   */
  perform(tx?: StepTransaction): AttemptEnd | Promise<AttemptEnd> {
    return this.#parts.runtime.context.run(() => this.#begin(tx))
  }

  #begin(tx: StepTransaction | undefined): AttemptEnd | Promise<AttemptEnd> {
    this.#phase = 'running'
    this.startedAt = this.#parts.runtime.clock.now()
    if (isItem(this.claim.step)) this.step = namedItem(this.step, this.#payloads.item)
    // Interrupted before its turn came: the handler is not called at all.
    if (this.#signal.isFired) return { type: 'given_up' }
    const skip = this.#gate?.skip
    if (skip !== undefined) return skip
    const poison = poisonError(this.claim, this.step)
    if (poison !== undefined) return { type: 'threw', error: poison }
    if (this.claim.direction === 'forward') {
      const first = this.#gate?.next()
      if (first !== undefined) return first.type === 'call' ? this.#ask(first) : first
      if (this.step.map?.part === 'join') return joinedEnd(this, this.#payloads.items, this.#parts)
      return this.step.wait === null ? this.#work(tx) : this.#look(this.step.wait)
    }
    const { compensation, wait } = this.step
    if (!this.#payloads.owesUndo || compensation === null) return { type: 'relay' }
    if (wait !== null) return this.#look(wait)
    return this.#call(this.#handler(compensation.run as Handler), compensation, { tx })
  }

  /** Performs the attempt in an open transaction; may be called again. Ends when the attempt is cut off, even if its handler continues. */
  performWithin(tx: StepTransaction): Promise<AttemptEnd> {
    // What an earlier try told was rolled back with it.
    this.#telling = undefined
    return this.cutOff.end(() => this.perform(tx))
  }

  /** Ends the handler's transaction, or its wait for one, when nobody waits for the handler any more. */
  get cutOff(): CutOff {
    this.#cutOff ??= new CutOff()
    return this.#cutOff
  }

  /** Calls the step's `when`, or the functions of its keys. They are no handlers: nothing has begun. */
  #ask(first: Extract<BranchStep | EnterStep, { type: 'call' }>): AttemptEnd | Promise<AttemptEnd> {
    this.#judge = first.judge
    return this.#call(first.handler, this.step, { asks: first.asks, isBefore: true })
  }

  #work(tx: StepTransaction | undefined): AttemptEnd | Promise<AttemptEnd> {
    const { run, cases, map } = this.step
    if (cases !== null) this.#judge = judgeCase(this, cases)
    const asks = openedBy(map)
    const own = asks === undefined ? this.#handler(run) : run
    const handler = map?.part === 'round' ? roundHandler(this, own, map, this.#parts.runtime.clock) : own
    return this.#call(handler, this.step, { tx, asks })
  }

  /** For a waiting step: checks whether it may continue, and calls its handler if needed. */
  #look(wait: Wait): AttemptEnd | Promise<AttemptEnd> {
    const next = nextLook(this, wait, this.#payloads, this.#parts)
    if (next.type !== 'call') return this.#answered(next)
    this.#judge = next.judge
    // A poll's question is the work of its step.
    return this.#call(wait.kind === 'poll' ? this.#handler(next.handler) : next.handler, this.step, next)
  }

  /** The handler with its hooks around it. */
  #handler(run: Handler | null): Handler | null {
    const { around } = this.#parts
    if (around === undefined || run === null) return run
    const surrounded = new SurroundedHandler(this, run, around)
    this.#surrounded = surrounded
    return (context) => surrounded.call(context)
  }

  #answered(answer: WaitAnswer | BranchEnd | EntersEnd): AttemptEnd {
    return answer.type === 'output' ? this.#ended(answer.value) : answer
  }

  #call(
    handler: ((context: StepContext) => unknown) | null,
    policy: Pick<StepDefinition, 'retry' | 'timeoutMs' | 'heartbeatMs'>,
    { tx, asks, isBefore = false }: HandlerCall,
  ): AttemptEnd | Promise<AttemptEnd> {
    const limit = timeLimit(policy, this.failingMs, asks)
    if (limit === 'over')
      return { type: 'threw', error: retriesAreOver(this, policy.retry, this.#payloads.lastError) }
    try {
      const context = contextOf(this, this.#payloads, this.#parts.log)
      if (tx !== undefined) Object.assign(context, { tx })
      if (!isBefore && !this.#called) this.#parts.onCall(this)
      this.#called ||= !isBefore
      this.#aliveAt = this.startedAt
      const returned = belayCallsHandler(handler, context)
      if (!isThenable(returned)) return this.#returned(returned)
      const heartbeatMs = isBefore ? null : policy.heartbeatMs
      const graceMs = tx === undefined && limit?.option !== 'none' ? TIMEOUT_GRACE_MS : 0
      return this.#awaited(returned, { limit, heartbeatMs, graceMs })
    } catch (error) {
      return this.#threw(error)
    }
  }

  /** Its handler's signal. */
  get signal(): AbortSignal {
    return this.#signal.signal
  }

  /** Its handler is alive. */
  beat(): void {
    this.#aliveAt = this.#parts.runtime.clock.now()
  }

  /** For what its handler tells. Made on first use: most handlers tell nothing. */
  tell(): Telling {
    this.#telling ??= tellingOf(this, this.#parts.telling)
    return this.#telling
  }

  #awaited(
    promise: PromiseLike<unknown>,
    { limit, heartbeatMs, graceMs }: { limit: TimeLimit | null; heartbeatMs: number | null; graceMs: number },
  ): Promise<AttemptEnd> {
    return awaitHandler(promise, {
      clock: this.#parts.runtime.clock,
      limit,
      heartbeats: heartbeatMs === null ? null : { ms: heartbeatMs, lastAt: () => this.#aliveAt },
      graceMs,
      onTimeout: (over) => {
        const timeout = timeoutError(this, over)
        this.interrupt(timeout)
        return timeout
      },
      onGiveUp: this.#surrounded === undefined ? undefined : (error) => this.#surrounded?.giveUp(error),
      onLateResult: () => this.#parts.onLateResult(this),
      returned: (value) => this.#returned(value),
      threw: (error) => this.#threw(error),
    })
  }

  #threw(error: unknown): AttemptEnd {
    return { type: 'threw', error: presentable(error), interrupted: this.#signal.interruption }
  }

  #returned(value: unknown): AttemptEnd {
    // Nothing reads what a compensation returns.
    if (this.claim.direction === 'undo' && this.#judge === undefined)
      return { type: 'returned', output: null }
    try {
      return this.#judge === undefined ? this.#ended(value) : this.#answered(this.#judge(value))
    } catch (error) {
      return this.#threw(error)
    }
  }

  #ended(value: unknown): AttemptEnd {
    const isPart = this.step.map !== null && this.claim.direction === 'forward'
    const end = isPart
      ? endOfPart(this, value, this.#parts, (output) => serialisedEnd(this.#parts, this, output))
      : serialisedEnd(this.#parts, this, value)
    // A wait has no effect that could need an undo.
    return end.type === 'unstorable' && this.step.wait !== null ? this.#threw(end.error) : end
  }
}
