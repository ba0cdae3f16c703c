import {
  BelayError,
  callback,
  checkArgument,
  type NewRun,
  type NewSignal,
  type RunChange,
  type RunToChange,
  type TransactionOptions,
  type TypedTransaction,
} from '@belay/workflow/adapter'
import type { NameHolder, Rows } from './rows.ts'

/** A change of a run, as a transaction is asked for it. */
export interface ChangeRequest<Answer extends object = object> {
  readonly runId: string
  readonly decide: (found: RunToChange) => { readonly change: RunChange | null; readonly answer: Answer }
}

/** A change that is to be made when its transaction commits. */
export interface PendingChange {
  readonly request: ChangeRequest
  /** JSON text of what its caller was told: the change must come to the same when the transaction commits. */
  readonly told: string
}

/** What a transactional handler is given as `tx` on a memory store. */
export interface MemoryStepTransaction {
  readonly client: MemoryTransaction
  /** There is no database to query: test such handlers on PGlite. */
  readonly drizzle: undefined
}

/** `transaction: memoryTransaction()` tells a step's handler what its `tx` is on a memory store. */
export function memoryTransaction(options: TransactionOptions = {}): TypedTransaction<MemoryStepTransaction> {
  return options
}

/**
 * An open transaction of a memory store. What is done in it shows when it commits, all at once, or never.
 * A memory store keeps no tables of the application's: `onCommit` stands for what would be written to them.
 */
export class MemoryTransaction implements NameHolder {
  /** @internal The store it belongs to. */
  readonly rows: Rows
  /** @internal Runs that are to be created when it commits. */
  readonly runs = new Map<string, NewRun>()
  /** @internal Signals that are to be delivered when it commits. */
  readonly signals: NewSignal[] = []
  /** @internal Changes of runs that are to be made when it commits. */
  readonly changes: PendingChange[] = []
  /** @internal Resolves once it is over. */
  readonly ended: Promise<void>
  /** @internal The transaction that this one waits for. */
  waitsFor: NameHolder | undefined
  readonly #effects: (() => void)[] = []
  #isOpen = true
  #end: () => void = () => {}

  /** @internal */
  constructor(rows: Rows) {
    this.rows = rows
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** @internal Whether there is nothing to store when it commits. */
  get isEmpty(): boolean {
    return this.runs.size === 0 && this.signals.length === 0 && this.changes.length === 0
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Calls `effect` when the transaction commits, and never when it is rolled back. It must not throw. */
  onCommit(effect: () => void): void {
    this.assertOpen()
    checkArgument('onCommit()', 'the effect', effect, callback())
    this.#effects.push(effect)
  }

  /** @internal */
  assertOpen(): void {
    if (this.#isOpen) return
    throw new BelayError(
      'transaction_ended',
      'This transaction is over. Await everything that belongs to it before the function it was given to returns.',
    )
  }

  /** @internal Keeps others from these names until it is over. */
  hold(names: readonly string[]): void {
    for (const name of names) this.rows.heldNames.set(name, this)
  }

  /** @internal `store` stores what was done in it; that and the effects happen within one turn. */
  commit(store: () => void): void {
    this.#over()
    store()
    for (const effect of this.#effects) effect()
  }

  /** @internal */
  rollBack(): void {
    if (this.#isOpen) this.#over()
  }

  #over(): void {
    this.assertOpen()
    this.#isOpen = false
    for (const [name, holder] of this.rows.heldNames) if (holder === this) this.rows.heldNames.delete(name)
    this.#end()
  }
}

/** What was given as `tx`, if it is an open transaction of this store. Throws `invalid_option`. */
export function givenTransaction(rows: Rows, tx: unknown): MemoryTransaction {
  const found = transactionIn(tx)
  if (found === undefined) {
    throw refused(
      'is not a transaction of a memory store',
      'Give the one that transaction() of the adapter, or a transactional step, provides',
    )
  }
  if (found.rows !== rows) throw refused('belongs to another memory store', 'Use one of the same store')
  if (!found.isOpen) throw refused('is over', 'Use it before the function it was given to returns')
  return found
}

/** The transaction itself, or the one that a transactional step was given. Undefined for anything else, also for what cannot be looked at. */
function transactionIn(tx: unknown): MemoryTransaction | undefined {
  try {
    const found = typeof tx === 'object' && tx !== null && 'client' in tx ? tx.client : tx
    return found instanceof MemoryTransaction ? found : undefined
  } catch {
    return undefined
  }
}

function refused(what: string, remedy: string): BelayError {
  return new BelayError('invalid_option', `The tx given to memory() ${what}. ${remedy}.`)
}
