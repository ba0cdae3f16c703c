import type { BelayErrorCode } from './error-codes.ts'
import { messageOf } from './thrown.ts'

export type { BelayErrorCode } from './error-codes.ts'

/** Where an error happened, as far as known. */
export interface ErrorContext {
  readonly runId?: string | undefined
  readonly step?: string | undefined
  readonly attempt?: number | undefined
  readonly cause?: unknown
  /** What to do next, as sentences: the message ends with it. */
  readonly remedy?: string | undefined
  /** Of a refused action: what cannot be done and why, as a sentence without its subject. */
  readonly refusal?: string | undefined
  /** The run on which to call the same verb instead. */
  readonly insteadOn?: string | undefined
}

// Registered globally, so that an error made by a second copy of this package is still recognised.
const BRAND = Symbol.for('belay.error')

/** The base of every error Belay throws. `code` is stable; the message says what happened, where, and what to do next. */
export class BelayError extends Error {
  override readonly name: string = 'BelayError'
  readonly code: BelayErrorCode
  readonly runId: string | undefined
  readonly step: string | undefined
  readonly attempt: number | undefined
  /**
   * What to do next, as sentences; undefined where there is nothing to say, or where it is not told apart from the rest. The message ends with it, so
   * that whoever reads only the message reads it too.
   */
  readonly remedy: string | undefined
  /**
   * Of an action that was refused because of the state of its run or step: what cannot be done and why, without its subject, for a surface that has
   * named the run or step already, or counts many: `cannot be paused: it has completed.`
   */
  readonly refusal: string | undefined
  /** The id of the run on which to call the same verb instead: of a child that only its parent retries, the parent's. */
  readonly insteadOn: string | undefined

  /** `what` says what happened and where. The message is `what`, followed by the remedy of the context. */
  constructor(code: BelayErrorCode, what: string, context: ErrorContext = {}) {
    // Handlers also construct errors, from any value they caught: the constructor must not throw.
    super(withRemedy(messageOf(what), remedyOf(context)), causeOf(context))
    this.code = code
    this.remedy = remedyOf(context)
    this.refusal = read(context, 'refusal')
    this.insteadOn = read(context, 'insteadOn')
    this.runId = read(context, 'runId')
    this.step = read(context, 'step')
    this.attempt = read(context, 'attempt')
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** What happened and where: the message without its remedy, for a surface that shows the remedy on its own, or as a command. */
  get what(): string {
    const { message, remedy } = this
    return remedy !== undefined && message.endsWith(` ${remedy}`)
      ? message.slice(0, -remedy.length - 1)
      : message
  }

  /** Tells whether a value is a Belay error, also one made by another copy of the package. Never throws. */
  static is(value: unknown): value is BelayError {
    try {
      // Reads the code here, so that a trap or getter that throws makes this false instead of failing the caller.
      return isObject(value) && BRAND in value && 'code' in value && typeof value.code === 'string'
    } catch {
      return false
    }
  }
}

function withRemedy(what: string, remedy: string | undefined): string {
  return remedy === undefined ? what : `${what} ${remedy}`
}

function remedyOf(context: ErrorContext): string | undefined {
  const remedy = read(context, 'remedy')
  return typeof remedy === 'string' && remedy !== '' ? remedy : undefined
}

function causeOf(context: ErrorContext): ErrorOptions | undefined {
  const cause = read(context, 'cause')
  return cause === undefined ? undefined : { cause }
}

function read<Context extends object, Name extends keyof Context>(
  context: Context,
  name: Name,
): Context[Name] | undefined {
  try {
    return context[name]
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** One problem of a definition. */
export interface DefinitionProblem {
  /**
   * `invalid_name`, `duplicate_step`, `unknown_dependency`, `duplicate_dependency`, `cycle` (a step that depends on itself is one),
   * `unknown_step` (an entry in `dag` for a step that is not there), `unknown_handler`; `other` for the rest, such as a bad option.
   */
  readonly kind:
    | 'invalid_name'
    | 'duplicate_step'
    | 'unknown_dependency'
    | 'duplicate_dependency'
    | 'cycle'
    | 'unknown_step'
    | 'unknown_handler'
    | 'other'
  /** A sentence that says what is wrong, where, and what to do. */
  readonly message: string
  /** The step it is about. */
  readonly step?: string | undefined
  /** The wrong name of a step, a dependency or a handler. */
  readonly name?: string | undefined
  /** A valid form of an invalid name, or the nearest existing name. */
  readonly suggestion?: string | undefined
  /** The steps of a cycle: each depends on the next, and the last on the first. */
  readonly cycle?: readonly string[] | undefined
}

/** What a {@link DefinitionError} adds to its message. */
export interface DefinitionErrorContext extends ErrorContext {
  /** Default: one problem of kind `other`, with the error's message. */
  readonly problems?: readonly DefinitionProblem[] | undefined
}

/**
 * A definition that cannot run: a cycle, an unknown dependency, a duplicate or invalid name, a missing handler. `problems` holds all problems; the
 * message may show only some.
 */
export class DefinitionError extends BelayError {
  override readonly name = 'DefinitionError'
  readonly problems: readonly DefinitionProblem[]

  constructor(message: string, context: DefinitionErrorContext = {}) {
    super('invalid_definition', message, context)
    this.problems = Object.freeze(
      problemsOf(context) ?? [{ kind: 'other', message: this.message, step: this.step }],
    )
  }
}

function problemsOf(context: DefinitionErrorContext): readonly DefinitionProblem[] | undefined {
  try {
    return context.problems
  } catch {
    return undefined
  }
}

/** What a {@link LimitReachedError} adds to its message. */
export interface LimitReachedContext extends ErrorContext {
  readonly limit: string
  readonly key: string
  readonly concurrency: number
}

/** A limit of the workflow has `atLimit: 'refuse'` and no slot. Nothing was started; a later call may succeed. */
export class LimitReachedError extends BelayError {
  override readonly name = 'LimitReachedError'
  /** The limit's name. */
  readonly limit: string
  /** The key; empty for a limit without keys. */
  readonly key: string
  /** How many slots each key of the limit has. */
  readonly concurrency: number

  constructor(message: string, context: LimitReachedContext) {
    super('limit_reached', message, context)
    this.limit = context.limit
    this.key = context.key
    this.concurrency = context.concurrency
  }
}

/**
 * The store cannot be reached, is shutting down, or cannot do now what it was asked. Adapters throw it whenever a later try may succeed; the engine
 * keeps its state and tries again.
 */
export class StoreUnavailableError extends BelayError {
  override readonly name = 'StoreUnavailableError'
  /**
   * True: the store answered and refused this one call, of which nothing was written; it may accept others. The engine then splits the call, so that
   * only the member which is refused waits. False: nobody knows whether the call took effect.
   */
  readonly answered: boolean
  constructor(
    message: string,
    context: {
      readonly cause?: unknown
      readonly answered?: boolean
      readonly remedy?: string | undefined
    } = {},
  ) {
    super('store_unavailable', message, context)
    this.answered = read(context, 'answered') === true
  }
}

/**
 * Another transaction has locked a row that the call needs, for longer than the adapter's limit. Nothing was written. The engine then splits the
 * batch, so that only the item that needs the locked row waits.
 */
export class StoreContendedError extends BelayError {
  override readonly name = 'StoreContendedError'
  constructor(message: string, context: ErrorContext = {}) {
    super('store_contended', message, context)
  }
}
