/** What the shop and the atlas need from a database. Both PGlite and a `pg` pool can be wrapped as one. */
export interface Database {
  /** Runs one statement in its own transaction, and returns its rows. */
  query<Row = unknown>(sql: string, parameters?: readonly unknown[]): Promise<readonly Row[]>
}

interface Queryable {
  query(sql: string, parameters?: unknown[]): Promise<{ readonly rows: unknown[] }>
}

/** Wraps a PGlite instance or a `pg` pool. */
export function databaseOver(source: Queryable): Database {
  return {
    async query<Row>(sql: string, parameters: readonly unknown[] = []) {
      const { rows } = await source.query(sql, [...parameters])
      return rows as Row[]
    },
  }
}

/** The same database behind a slow connection: each statement takes at least `latencyMs`. */
export function slowed(database: Database, latencyMs: number): Database {
  if (latencyMs === 0) return database
  return {
    async query(sql, parameters) {
      await new Promise((resume) => setTimeout(resume, latencyMs))
      return database.query(sql, parameters)
    },
  }
}
