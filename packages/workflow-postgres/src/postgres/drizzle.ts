import { NodePgSession, NodePgTransaction } from 'drizzle-orm/node-postgres/session'
import { PgDialect } from 'drizzle-orm/pg-core/dialect'
import type { PoolClient } from 'pg'

export function drizzleOver(
  client: PoolClient,
): NodePgTransaction<Record<string, never>, Record<string, never>> {
  const dialect = new PgDialect()
  const session = new NodePgSession<Record<string, never>, Record<string, never>>(client, dialect, undefined)
  return new NodePgTransaction<Record<string, never>, Record<string, never>>(dialect, session, undefined)
}
