import {
  BelayError,
  type ChangedCollection,
  callback,
  checkArgument,
  type NewRun,
  type NewSignal,
  type RunChange,
  type RunToChange,
  type TransactionOptions,
  type TypedTransaction,
} from '@belay/workflow/adapter'
import type { CallRow, CollectionRow, NameHolder, Rows } from './rows.ts'
import type { ScheduleRow } from './schedule-row.ts'

declare module '@belay/workflow/adapter' {
  interface CallerTransactions {
    readonly memory: MemoryTransaction
  }
}

/** A requested change of a run within a transaction. */
export interface ChangeRequest<Answer extends object = object> {
  readonly runId: string
  readonly decide: (found: RunToChange) => { readonly change: RunChange | null; readonly answer: Answer }
  readonly leavesItems?: boolean | undefined
}

/** A change that its transaction makes when it commits. */
export interface PendingChange {
  readonly request: ChangeRequest
  /** JSON text of the answer that the caller got. The change must give the same answer when the transaction commits. */
  readonly told: string
}

/** The `tx` of a transactional handler on a memory store. */
export interface MemoryStepTransaction {
  readonly client: MemoryTransaction
  /** There is no database to query: using it throws `invalid_option`. Test such handlers on PGlite. */
  readonly drizzle: undefined
}

/** Stands for the database of a transactional handler. The names that JavaScript itself asks for, as when it is awaited or printed, are not there. */
export const NO_SQL: unknown = new Proxy(
  {},
  {
    get: (_, name) =>
      typeof name === 'symbol' || ASKED_BY_ANY.has(name) ? undefined : refuseSql(`tx.drizzle.${name}`),
  },
)

const ASKED_BY_ANY: ReadonlySet<string> = new Set(['then', 'toJSON', 'constructor', 'asymmetricMatch'])

function refuseSql(used: string): never {
  throw new BelayError(
    'invalid_option',
    `${used} was used in a transaction of memory(), which has no SQL database. In testWorkflow() and checkRollback(), replace the handler with stub(step, handler); or run the workflow on pglite(), whose transactions have one.`,
  )
}

/** `transaction: memoryTransaction()` gives a step's handler the type of its `tx` on a memory store. */
export function memoryTransaction(options: TransactionOptions = {}): TypedTransaction<MemoryStepTransaction> {
  return options
}

/**
 * An open transaction of a memory store. Its changes become visible when it commits, all at once, or never. A memory store has no tables of the
 * application; `onCommit` stands for writes to them.
 */
export class MemoryTransaction implements NameHolder {
  /** @internal The transaction's store. */
  readonly rows: Rows
  /** @internal Runs to create when it commits. */
  readonly runs = new Map<string, NewRun>()
  /** @internal Signals to deliver when it commits. */
  readonly signals: NewSignal[] = []
  /** @internal Changes of runs to make when it commits. */
  readonly changes: PendingChange[] = []
  /** @internal Calls that it has collected, by id; the collections that it has changed; and changes of runs that were there before. */
  readonly calls = new Map<string, CallRow>()
  readonly collections = new Map<string, CollectionRow>()
  readonly joined: {
    readonly runId: string
    readonly definitionId: number
    readonly change: ChangedCollection
  }[] = []
  /** @internal Schedules as it leaves them; null for a deleted one. */
  readonly schedules = new Map<string, ScheduleRow | null>()
  /** @internal Runs that firings of its schedules cancel when it commits. */
  readonly cancels: string[] = []
  /** @internal Resolves when the transaction ends. */
  readonly ended: Promise<void>
  /** @internal The transaction for which this one waits. */
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

  /** @internal Whether a commit has nothing to store. */
  get isEmpty(): boolean {
    const { runs, signals, changes, calls, schedules } = this
    return runs.size + signals.length + changes.length + calls.size + schedules.size === 0
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Calls `effect` when the transaction commits, and never if it is rolled back. `effect` must not throw. */
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
      'This transaction has ended. Await everything that uses it before the function that received it returns.',
    )
  }

  /** @internal Holds these names against other transactions until this one ends. */
  hold(names: readonly string[]): void {
    for (const name of names) this.rows.heldNames.set(name, this)
  }

  /** @internal `store` stores the transaction's changes. They and the effects happen within one turn. */
  commit(store: () => void): void {
    this.#finish()
    store()
    for (const effect of this.#effects) effect()
  }

  /** @internal */
  rollBack(): void {
    if (!this.#isOpen) return
    this.#finish()
    // Slots of runs that it would have started.
    for (const runId of this.runs.keys()) this.rows.limits.removeRun(runId)
  }

  #finish(): void {
    this.assertOpen()
    this.#isOpen = false
    for (const [name, holder] of this.rows.heldNames) if (holder === this) this.rows.heldNames.delete(name)
    this.#end()
  }
}

/** The given `tx`, if it is an open transaction of this store. Else throws `invalid_option`. */
export function givenTransaction(rows: Rows, tx: unknown): MemoryTransaction {
  const found = transactionIn(tx)
  if (found === undefined) {
    throw refused(
      'is not a transaction of a memory store',
      "Pass the tx of the adapter's transaction() or of a transactional step",
    )
  }
  if (found.rows !== rows)
    throw refused('belongs to another memory store', 'Use a transaction of the same store')
  if (!found.isOpen) throw refused('has ended', 'Use it before the function that received it returns')
  return found
}

/** The transaction itself, or the one inside a transactional step's `tx`. Undefined for anything else, including objects that throw when read. */
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
