import { type Claim, isItem } from '../../adapter/index.ts'
import type { Clock, Timer } from '../../clock.ts'
import type { StepContext } from '../../definition/handler.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Logger } from '../../logger.ts'
import { isThenable } from '../../thenable.ts'
import type { RunTraceparents } from '../base/run-traceparents.ts'
import { type Around, AttemptOfHandler, type HandledAttempt } from './around.ts'
import { belayCallsHandler } from './await-handler.ts'
import { stepOf } from './expansion.ts'

/** What the hooks of all attempts share. */
export interface AroundParts {
  /** At least one; the first is the outermost. */
  readonly hooks: readonly Around[]
  readonly traceparents: RunTraceparents
  readonly clock: Clock
  /** The engine's log. */
  readonly log: Logger
}

/** The attempt, as its surrounded handler sees it. */
interface Surrounded {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  readonly signal: AbortSignal
  readonly isInterrupted: boolean
}

/** How long a hook may take until it calls `next()`. Short, because it delays every attempt, and a step's `timeout` goes on. */
const NEXT_MS = 1_000

/**
 * One call of a handler within its hooks. The handler is called exactly once, whatever the hooks do, unless the attempt was interrupted before. If no hook
 * awaits anything before it calls `next()`, the handler is called at once, and its result is there without a promise.
 */
export class SurroundedHandler {
  readonly #attempt: Surrounded
  readonly #run: (context: StepContext) => unknown
  readonly #parts: AroundParts
  readonly #end: Promise<void>
  #succeed!: () => void
  #fail!: (error: unknown) => void
  #context!: StepContext
  #about!: HandledAttempt
  #isCalled = false
  #isLate = false
  /** What the handler returned: a value, or a promise of the engine's. */
  #returned: unknown
  /** What it threw, or the error of the attempt that was given up. */
  #failure: { readonly error: unknown } | undefined
  #hasThrown = false
  /** Tells the engine that the handler was called, if that happens late. */
  #onCalled: () => void = nothing

  constructor(attempt: Surrounded, run: (context: StepContext) => unknown, parts: AroundParts) {
    this.#attempt = attempt
    this.#run = run
    this.#parts = parts
    this.#end = new Promise<void>((resolve, reject) => {
      this.#succeed = resolve
      this.#fail = reject
    })
  }

  /** Returns and throws what the handler does. */
  call(context: StepContext): unknown {
    const { claim, definition, step } = this.#attempt
    const { name: workflow, version } = definition
    const { direction } = claim
    const { traceparents } = this.#parts
    const partOf = isItem(claim.step) ? stepOf(definition, claim.step).name : undefined
    this.#context = context
    const kind = step.wait?.kind === 'poll' ? 'poll' : step.cases === null ? 'work' : 'choose'
    this.#about = new AttemptOfHandler({ workflow, version, kind, partOf, direction }, context, traceparents)
    this.#enter(0)
    if (this.#isCalled) return this.#result()
    this.#isLate = true
    return new Promise<void>((resolve) => {
      this.#onCalled = resolve
    }).then(() => this.#result())
  }

  /** The attempt has timed out, and nobody waits for its handler any longer. */
  giveUp(error: unknown): void {
    this.#failed(error)
  }

  #result(): unknown {
    if (this.#hasThrown) throw this.#failure!.error
    return this.#returned
  }

  /** Calls the hook at this place, or the handler after the last one. Never throws. */
  #enter(place: number): void {
    const hook = this.#parts.hooks[place]
    if (hook === undefined) {
      this.#callHandler()
      return
    }
    let isNext = false
    let timer: Timer | undefined
    const next = () => {
      if (!isNext) {
        isNext = true
        timer?.cancel()
        this.#enter(place + 1)
      }
      return this.#end
    }
    const goOn = (message: string, error?: unknown) => {
      this.#tell(place, message, error)
      void next()
    }
    const failed = (error: unknown) => {
      if (!isNext) goOn('An around hook failed before it called next(). The handler runs without it.', error)
      else if (this.#failure === undefined || !Object.is(error, this.#failure.error))
        this.#tell(place, 'An around hook failed. That changes nothing for its step.', error)
    }
    const ended = () => {
      if (!isNext) goOn('An around hook ended without calling next(). The handler runs without it.')
    }
    try {
      const returned: unknown = hook(this.#about, next)
      if (!isThenable(returned)) {
        ended()
        return
      }
      Promise.resolve(returned).then(ended, failed)
    } catch (error) {
      failed(error)
    }
    if (isNext) return
    // Not in the timer itself, which may fire in another async context.
    new Promise<void>((resolve) => {
      timer = this.#parts.clock.after(NEXT_MS, resolve)
    }).then(() => {
      if (!isNext)
        goOn(`An around hook has not called next() within ${NEXT_MS / 1_000} s. The handler runs without it.`)
    })
  }

  #callHandler(): void {
    this.#isCalled = true
    try {
      if (this.#isLate && this.#attempt.isInterrupted) throw this.#attempt.signal.reason
      const returned = belayCallsHandler(this.#run, this.#context)
      if (isThenable(returned)) {
        // Once, for the hooks and the engine: `then` of a query may be what sends it.
        const promise = Promise.resolve(returned)
        this.#returned = promise
        // Without the output, which is private.
        promise.then(
          () => this.#succeed(),
          (error: unknown) => this.#failed(error),
        )
      } else {
        this.#returned = returned
        this.#succeed()
      }
    } catch (error) {
      this.#hasThrown = true
      this.#failed(error)
    }
    this.#onCalled()
  }

  #failed(error: unknown): void {
    this.#failure ??= { error }
    // A hook that does not await next() must not end the process.
    this.#end.catch(nothing)
    this.#fail(error)
  }

  #tell(place: number, message: string, error: unknown): void {
    const { hooks, log } = this.#parts
    const { workflow, version, runId, step, direction, attempt } = this.#about
    const { name } = hooks[place]!
    const hook = `around[${place}]${typeof name === 'string' && name !== '' ? ` (${name})` : ''}`
    const fields = { hook, runId, workflow, version, step, direction, attempt }
    log.error(message, error === undefined ? fields : { ...fields, error })
  }
}

function nothing(): void {}
