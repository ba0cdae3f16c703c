import type { Adapter, Transacted } from '@belay/workflow/adapter'
import type { PGliteInterface, Transaction } from '@electric-sql/pglite'
import { withSavepoints } from '../connection/savepoints.ts'
import { HandlerGuard } from '../transact/handler-guard.ts'
import { beginning, newMark, notCommitted, workWithin } from '../transact/settle-within.ts'
import { READ_SESSION, type SessionRow, sessionOf } from '../transact/step-session.ts'
import { statementsOver } from './connection.ts'
import { classified } from './errors.ts'
import { loadDrizzle, stepTransaction } from './step-transaction.ts'

/** Transactions of steps. One at a time, like every statement in PGlite. */
export function pgliteTransact(database: () => PGliteInterface, schema: string): Adapter['transact'] {
  return async (request) => {
    await loadDrizzle()
    const guard = new HandlerGuard()
    let isSubmitted = false
    const inTransaction = async (transaction: Transaction): Promise<Transacted> => {
      const mark = newMark()
      // If this process stops, its database stops too: nobody else waits for its locks.
      const idleTimeoutMs = null
      const results = await transaction.exec(
        `${beginning({ mark, idleTimeoutMs }, request.isolation)}; ${READ_SESSION}`,
      )
      const connection = withSavepoints(statementsOver(() => transaction, schema))
      const verdict = await workWithin(
        {
          connection,
          named: () => connection,
          session: sessionOf(results.at(-1)!.rows[0] as SessionRow),
          settleTimeoutMs: null,
          tx: stepTransaction(transaction, guard),
          mark,
          idleTimeoutMs,
          storeFailure: (thrown?: unknown) => guard.storeFailure(thrown),
          close: () => guard.close(),
        },
        request,
      )
      // PGlite rolls back if its callback throws.
      if (verdict.commit === undefined) throw new RolledBack(verdict.rollBack)
      isSubmitted = true
      return { type: 'settled', settlement: verdict.commit }
    }
    try {
      return await database().transaction(inTransaction)
    } catch (error) {
      if (error instanceof RolledBack) return named(error.transacted)
      if (isSubmitted) return named(notCommitted(error))
      throw classified(error)
    } finally {
      guard.close()
    }
  }
}

function named(transacted: Transacted): Transacted {
  return transacted.type === 'unavailable'
    ? { ...transacted, error: classified(transacted.error) }
    : transacted
}

class RolledBack extends Error {
  override readonly name = 'RolledBack'
  readonly transacted: Transacted

  constructor(transacted: Transacted) {
    super('rolled back')
    this.transacted = transacted
  }
}
