import type { Claim } from '../adapter/index.ts'
import type { RunCause, SerialisedError } from '../cause.ts'
import type { Timer } from '../clock.ts'
import type { CompensationContext, StepContext, StepDefinition } from '../definition/step.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { BelayError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { type AttemptEnd, type Interruption, poisonError, tryNumber } from './decide.ts'
import { fromJsonText, toJsonText } from './payload.ts'
import type { PayloadCache } from './payload-cache.ts'
import { owesUndo } from './plan-undo.ts'
import type { Runtime } from './runtime.ts'

export interface AttemptParts {
  readonly runtime: Runtime
  readonly payloads: PayloadCache
  readonly payloadMaxBytes: number
  readonly log: Logger
  /** The handler is about to be called. */
  readonly onCall: (attempt: Attempt) => void
  /** The handler ended after its attempt had timed out. */
  readonly onLateResult: (attempt: Attempt) => void
}

/** `relay`: the step only keeps the undo's order and has nothing to call. */
export type Performance = AttemptEnd | { readonly type: 'relay' }

/**
 * One attempt of one step, from claim to outcome: is it poison? → read its payloads → call its handler under a timeout and a signal →
 * serialise what it returned. Deciding what follows, and recording it, is the session's.
 */
export class Attempt {
  readonly claim: Claim
  /** Names the attempt among all others. */
  readonly key: string
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  /** `queued` until its handler is about to be called; `settling` once its outcome is decided. */
  phase: 'queued' | 'running' | 'settling' = 'queued'
  /** Instant of the engine's clock. */
  startedAt = 0
  readonly #parts: AttemptParts
  #controller: AbortController | undefined
  #interruptedBy: BelayError | undefined
  #interruption: Interruption | undefined

  constructor(claim: Claim, definition: WorkflowDefinition, parts: AttemptParts) {
    this.claim = claim
    this.key = attemptKey(claim)
    this.definition = definition
    this.step = definition.steps[claim.step]!
    this.#parts = parts
  }

  /** Fires the handler's signal. Only the first reason counts. */
  interrupt(reason: BelayError): void {
    if (this.#interruptedBy !== undefined) return
    this.#interruptedBy = reason
    if (reason.code === 'run_stopping' || reason.code === 'worker_stopping') this.#interruption = reason.code
    this.#controller?.abort(reason)
  }

  /** Made when somebody asks for it: most handlers don't, and signals are dear. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#interruptedBy !== undefined) this.#controller.abort(this.#interruptedBy)
    }
    return this.#controller.signal
  }

  /** Calls the handler, or finds out why not. Rejects only when payloads cannot be read. */
  async perform(): Promise<Performance> {
    this.phase = 'running'
    this.startedAt = this.#parts.runtime.clock.now()
    const poison = poisonError(this.claim, this.step)
    if (poison !== undefined) return { type: 'threw', error: poison }
    if (this.claim.direction === 'forward') return this.#call(await this.#forwardCall(), this.step.timeoutMs)
    const { compensation } = this.step
    if (!this.#owesUndo() || compensation === null) return { type: 'relay' }
    return this.#call(await this.#undoCall(), compensation.timeoutMs)
  }

  #owesUndo(): boolean {
    const { compensate } = this.definition.record.shape.steps[this.claim.step]!
    // Only started steps are ever planned under 'started', so that need not be asked again.
    return owesUndo(this.claim.undoOf ?? 'completed', true, compensate)
  }

  async #forwardCall(): Promise<() => unknown> {
    const { claim, definition, step } = this
    const numbers = definition.graph.dependencies[claim.step]!
    const { payloads: cache } = this.#parts
    const payloads = cache.knownForward(claim.runId, numbers) ?? (await cache.forward(claim.runId, numbers))
    if (payloads === undefined) throw this.#runIsGone()
    const context = this.#context(payloads.input, numbers, payloads.outputs, claim.runId)
    return () => step.run?.(context)
  }

  async #undoCall(): Promise<() => unknown> {
    const { claim, definition, step } = this
    const numbers = definition.graph.dependencies[claim.step]!
    const payloads = await this.#parts.payloads.load({ runId: claim.runId, steps: [...numbers, claim.step] })
    if (payloads === undefined) throw this.#runIsGone()
    const byStep = new Map(payloads.steps.map((found) => [found.step, found]))
    const outputs = numbers.map((number) => byStep.get(number)?.output ?? null)
    const own = byStep.get(claim.step)
    const completed = claim.undoOf === 'completed'
    const context: CompensationContext = {
      ...this.#context(payloads.input, numbers, outputs, claim.runId),
      undoOf: claim.undoOf as CompensationContext['undoOf'],
      output: completed ? fromJsonText(own?.output ?? null) : undefined,
      error: completed ? undefined : (fromJsonText(own?.error ?? null) as SerialisedError | undefined),
      cause: fromJsonText(payloads.cause) as RunCause,
    }
    return () => step.compensation?.run?.(context)
  }

  #context(
    input: string | null,
    numbers: readonly number[],
    outputs: readonly (string | null)[],
    runId: string,
  ): StepContext {
    const { claim, step, definition } = this
    const names = definition.graph.names
    // Parsed afresh for every attempt: a handler that changes what it was given must not change it for others.
    const deps = Object.fromEntries(
      numbers.map((number, index) => [names[number]!, fromJsonText(outputs[index] ?? null)]),
    )
    const attempt = tryNumber(claim)
    const { log } = this.#parts
    const signalOf = () => this.signal
    return {
      runId,
      step: step.name,
      input: fromJsonText(input),
      deps,
      attempt,
      idempotencyKey: claim.direction === 'undo' ? `${runId}:${step.name}:undo` : `${runId}:${step.name}`,
      get signal() {
        return signalOf()
      },
      get log() {
        const { direction } = claim
        return withFields(log, { runId, workflow: definition.name, step: step.name, direction, attempt })
      },
    }
  }

  #call(handler: () => unknown, timeoutMs: number | null): AttemptEnd | Promise<AttemptEnd> {
    // Interrupted while it read its payloads: the handler is not called at all.
    if (this.#interruption !== undefined) return { type: 'given_up' }
    this.#parts.onCall(this)
    try {
      const returned = handler()
      return isThenable(returned) ? this.#await(returned, timeoutMs) : this.#returned(returned)
    } catch (error) {
      return this.#threw(error)
    }
  }

  #await(returned: PromiseLike<unknown>, timeoutMs: number | null): Promise<AttemptEnd> {
    return new Promise((resolve) => {
      let timedOut = false
      const timer = this.#startTimeout(timeoutMs, (error) => {
        timedOut = true
        resolve({ type: 'threw', error })
      })
      const end = (ended: AttemptEnd) => {
        timer?.cancel()
        if (timedOut) this.#parts.onLateResult(this)
        else resolve(ended)
      }
      returned.then(
        (value) => end(this.#returned(value)),
        (error: unknown) => end(this.#threw(error)),
      )
    })
  }

  #returned(value: unknown): AttemptEnd {
    try {
      return { type: 'returned', output: this.#serialise(value) }
    } catch (error) {
      return this.#threw(error)
    }
  }

  #threw(error: unknown): AttemptEnd {
    return { type: 'threw', error, interrupted: this.#interruption }
  }

  #startTimeout(timeoutMs: number | null, onTimeout: (error: BelayError) => void): Timer | undefined {
    if (timeoutMs === null) return undefined
    return this.#parts.runtime.clock.after(timeoutMs, () => {
      const error = this.#timeoutError(timeoutMs)
      this.interrupt(error)
      onTimeout(error)
    })
  }

  #serialise(value: unknown): string | null {
    // What a compensation returns is nobody's input.
    if (this.claim.direction === 'undo') return null
    return toJsonText(value, this.#parts.payloadMaxBytes, {
      what: `Output of step "${this.step.name}" of run ${this.claim.runId}`,
      runId: this.claim.runId,
      step: this.step.name,
    })
  }

  #timeoutError(timeoutMs: number): BelayError {
    const { runId } = this.claim
    return new BelayError(
      'step_timeout',
      `Step "${this.step.name}" of run ${runId} did not end within its timeout of ${timeoutMs} ms. Whether it took effect is unknown. Listen to \`signal\` to stop early, or raise \`timeout\`.`,
      { runId, step: this.step.name, attempt: tryNumber(this.claim) },
    )
  }

  #runIsGone(): BelayError {
    const { runId } = this.claim
    return new BelayError('unknown_run', `Run ${runId} is not in the store any more.`, { runId })
  }
}

function attemptKey({ runId, step, attempt }: Claim): string {
  return `${runId}/${step}/${attempt}`
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

function withFields(log: Logger, fields: Readonly<Record<string, unknown>>): Logger {
  return {
    debug: (message, more) => log.debug(message, { ...fields, ...more }),
    info: (message, more) => log.info(message, { ...fields, ...more }),
    warn: (message, more) => log.warn(message, { ...fields, ...more }),
    error: (message, more) => log.error(message, { ...fields, ...more }),
  }
}
