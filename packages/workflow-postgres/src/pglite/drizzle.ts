import type { Transaction } from '@electric-sql/pglite'
import { PgDialect } from 'drizzle-orm/pg-core/dialect'
import { PgliteSession, PgliteTransaction } from 'drizzle-orm/pglite/session'

export function drizzleOver(
  transaction: Transaction,
): PgliteTransaction<Record<string, never>, Record<string, never>> {
  const dialect = new PgDialect()
  const session = new PgliteSession<Record<string, never>, Record<string, never>>(
    transaction,
    dialect,
    undefined,
  )
  return new PgliteTransaction<Record<string, never>, Record<string, never>>(dialect, session, undefined)
}
