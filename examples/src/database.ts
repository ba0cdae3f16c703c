/** The one thing the shop and the atlas ask of a database. PGlite and a `pg` pool both are one, once wrapped. */
export interface Database {
  /** Runs one statement, which is one transaction, and gives its rows. */
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

/** The same database at the other end of a slow line: each statement takes at least `latencyMs`. */
export function slowed(database: Database, latencyMs: number): Database {
  if (latencyMs === 0) return database
  return {
    async query(sql, parameters) {
      await new Promise((resume) => setTimeout(resume, latencyMs))
      return database.query(sql, parameters)
    },
  }
}
