import { BelayError } from '@belay/workflow/adapter'
import { causesOf, codeOf, READ_ONLY } from '../base/errors.ts'
import { type StoreFailure, storeFailureOf } from './store-failure.ts'

/** A failure of the store in a step's transaction. */
export interface FailedStore {
  readonly type: NonNullable<StoreFailure>
  readonly error: unknown
}

/**
 * Stands between a handler and its transaction. The handler cannot end the transaction, and cannot use it once it is over, when the connection may
 * already serve another step.
 */
export class HandlerGuard {
  #misuse: BelayError | null = null
  #isOpen = true
  #leavesTraces = false
  #isReadOnly = false
  #failed: FailedStore | null = null
  readonly #failures = new Map<unknown, FailedStore>()

  /** Whether a statement of the handler may have left something in the session that outlives the transaction. */
  get leavesTraces(): boolean {
    return this.#leavesTraces
  }

  /** Whether the store has failed in this session, perhaps because of the session's settings. */
  get hasFailed(): boolean {
    return this.#failures.size > 0
  }

  /** A statement of the handler was answered with this error; without one, it succeeded. */
  answered(error?: unknown): void {
    if (error === undefined) {
      // The handler has rolled back to a savepoint: the transaction goes on.
      this.#failed = null
      return
    }
    const type = storeFailureOf(error)
    if (type === null || (this.#isReadOnly && codeOf(error) === READ_ONLY)) return
    this.#failed ??= { type, error }
    this.#failures.set(error, { type, error })
  }

  /** Waits for the answer to a statement of the handler, and notes it. */
  async answering<Result>(answer: Promise<Result>): Promise<Result> {
    try {
      const result = await answer
      this.answered()
      return result
    } catch (error) {
      this.answered(error)
      throw error
    }
  }

  /**
   * The failure of the store that ended the handler's work: the one that it threw, perhaps as the cause of its own error, or the one that its
   * transaction has not recovered from. Null if the handler failed by itself.
   */
  storeFailure(thrown?: unknown): FailedStore | null {
    if (this.#failed !== null) return this.#failed
    for (const cause of causesOf(thrown)) {
      const failure = this.#failures.get(cause)
      if (failure !== undefined) return failure
    }
    return null
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Idempotent. Returns the forbidden action that the handler tried, if any. */
  close(): BelayError | null {
    this.#isOpen = false
    return this.#misuse
  }

  /** Throws unless this statement is allowed. */
  check(text: unknown): void {
    this.assertOpen()
    if (typeof text !== 'string') return
    this.#leavesTraces ||= SESSION_CHANGE.test(text)
    this.#isReadOnly ||= MAKES_READ_ONLY.test(text)
    const verb = TRANSACTION_CONTROL.exec(text)?.[1]
    if (verb !== undefined) this.refuse(verb.toUpperCase())
  }

  assertOpen(): void {
    if (this.#isOpen) return
    throw new BelayError(
      'transaction_ended',
      'The step’s transaction is over: its handler has returned or timed out. Await everything that uses `tx` before the handler returns.',
    )
  }

  /** The step fails with this error, even if the handler catches it. */
  refuse(what: string): never {
    this.#misuse = new BelayError(
      'transaction_ended',
      `${what} was refused: Belay owns the step’s transaction and commits it with the step’s settlement. Throw to roll it back; for a part that may fail, use a savepoint (\`tx.drizzle.transaction\`).`,
    )
    throw this.#misuse
  }
}

// A handler that forbids itself to write fails by itself when it writes.
const MAKES_READ_ONLY = /\bread\s+only\b|transaction_read_only/i

// Matches anything that may change the session. A false match only costs a new connection. Settings made with LOCAL, or with the local flag, end by
// themselves.
const SESSION_CHANGE = new RegExp(
  [
    String.raw`(?:^|;)(?:\s|--[^\n]*\n|/\*[\s\S]*?\*/)*(?:set(?!\s+(?:local|constraints|transaction)\b)|reset|discard|deallocate|prepare|listen|unlisten|declare|load)\b`,
    String.raw`\bset_config\s*\((?![^;]*,\s*true\s*\))`,
    String.raw`\b(?:create|into)\s+(?:local\s+|global\s+)?temp(?:orary)?\b`,
    'advisory_lock',
  ].join('|'),
  'i',
)

// Checks only the first statement of a text: the transaction's mark reveals the others. ROLLBACK TO returns to a savepoint and is allowed.
const TRANSACTION_CONTROL =
  /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i
