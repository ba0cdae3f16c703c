import { BelayError } from '@belay/workflow/adapter'

/**
 * Stands between a handler and its transaction: keeps it from ending what the engine has to end, and from reaching it once that is over,
 * when the connection may already serve somebody else.
 */
export class HandlerGuard {
  #misuse: BelayError | null = null
  #isOpen = true
  #leavesTraces = false

  /** Whether a statement of the handler's may have left something in the session that outlives the transaction. */
  get leavesTraces(): boolean {
    return this.#leavesTraces
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Idempotent. Returns what the handler tried, if it must not. */
  close(): BelayError | null {
    this.#isOpen = false
    return this.#misuse
  }

  /** Throws unless this statement may be run. */
  check(text: unknown): void {
    this.assertOpen()
    if (typeof text !== 'string') return
    this.#leavesTraces ||= SESSION_CHANGE.test(text)
    const verb = TRANSACTION_CONTROL.exec(text)?.[1]
    if (verb !== undefined) this.refuse(verb.toUpperCase())
  }

  assertOpen(): void {
    if (this.#isOpen) return
    throw new BelayError(
      'transaction_ended',
      'The step’s transaction is over: its handler had returned, or taken too long. Await everything that uses `tx` before the handler returns.',
    )
  }

  /** The step fails for it, even if the handler catches what this throws. */
  refuse(what: string): never {
    this.#misuse = new BelayError(
      'transaction_ended',
      `${what} was refused: the step’s transaction is Belay’s, which commits it with the step’s settlement. Throw to roll it back; for a part that may fail, use a savepoint (\`tx.drizzle.transaction\`).`,
    )
    throw this.#misuse
  }
}

// Anything that sounds like it: a connection is closed for it, which costs a new one. Settings with LOCAL, by either way, go by themselves.
const SESSION_CHANGE = new RegExp(
  [
    String.raw`(?:^|;)(?:\s|--[^\n]*\n|/\*[\s\S]*?\*/)*(?:set(?!\s+(?:local|constraints|transaction)\b)|reset|discard|deallocate|prepare|listen|unlisten|declare|load)\b`,
    String.raw`\bset_config\s*\((?![^;]*,\s*true\s*\))`,
    String.raw`\b(?:create|into)\s+(?:local\s+|global\s+)?temp(?:orary)?\b`,
    'advisory_lock',
  ].join('|'),
  'i',
)

// Only the first statement of a text: the rest is found out by the transaction's mark. ROLLBACK TO goes back to a savepoint.
const TRANSACTION_CONTROL =
  /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i
