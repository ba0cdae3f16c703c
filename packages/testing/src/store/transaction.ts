import { BelayError } from '@belay/workflow/adapter'
import { RefusedError } from './refused.ts'
import type { Rows } from './rows.ts'

/** A caller’s open transaction. What it does stands in a copy of the store until it commits: then it is done again there, and must answer the same. */
export class StoreTransaction {
  readonly home: Rows
  /** How the store looks to it. */
  readonly fork: Rows
  readonly #acts: { readonly act: (rows: Rows) => unknown; readonly told: string }[] = []
  #isOver = false

  constructor(home: Rows) {
    this.home = home
    this.fork = home.fork()
  }

  do<Answer>(act: (rows: Rows) => Answer): Answer {
    if (this.#isOver) throw new BelayError('invalid_option', 'The transaction is over.')
    const answer = act(this.fork)
    this.#acts.push({ act, told: shownOf(answer) })
    return answer
  }

  commit(): void {
    this.#isOver = true
    const trial = this.home.fork()
    for (const { act, told } of this.#acts)
      if (shownOf(act(trial)) !== told)
        throw new RefusedError(
          'other',
          'Another transaction has stored a key or an outcome that this one has.',
        )
    for (const { act } of this.#acts) act(this.home)
  }

  rollBack(): void {
    this.#isOver = true
  }
}

/** An answer without what may differ at the commit: numbers in sequence, and who owns a run. */
function shownOf(answer: unknown): string {
  return JSON.stringify(answer, (name, value: unknown) =>
    name === 'sequence' || name === 'owner' ? undefined : value,
  )
}

/** The transaction that a caller gave. */
export function given(home: Rows, tx: unknown): StoreTransaction {
  if (tx instanceof StoreTransaction && tx.home === home) return tx
  throw new BelayError('invalid_option', 'The option `tx` is no transaction of this store in memory.', {
    remedy: 'Give one of its transaction().',
  })
}
