import { DEFAULT_SCHEMA, quoteIdentifier } from '../schema-name.ts'

/**
 * One SQL statement. Its text names the default schema, so it can be tried in psql unchanged.
 *
 * Statements must find rows of runs and steps by primary key, whatever the statistics say. Statistics of a status or a worker are soon out of date,
 * but a cached plan lives long. So rows are joined with `= any (array[x])`, which can use the index but allows neither hash nor merge joins. Filters
 * and sort orders on these rows name columns of the driving table, so that they cannot make the planner search the whole table first or read another
 * index from end to end. plans.test.ts checks this.
 */
export interface Statement<Row> {
  /** Names the prepared statement. Null for variable texts, which are not worth preparing. */
  readonly name: string | null
  readonly text: string
  /** For statements that may exceed the connection's limit, such as migrations, which wait for one another. In milliseconds. */
  readonly timeoutMs?: number
  /** Type only: the shape of a result row. */
  readonly row?: Row
}

/** A statement as it runs in one schema. */
export interface SchemaStatement {
  readonly name: string | null
  readonly text: string
  readonly timeoutMs: number | undefined
}

/** How long a migration may take, or the wait for another process's migration. */
export const MIGRATION_TIMEOUT_MS = 600_000

/** Makes statements for the given schema. Caches them, because the texts are long and run thousands of times a second. */
export function makeStatementsFor(schemaName: string): (statement: Statement<unknown>) => SchemaStatement {
  const made = new WeakMap<Statement<unknown>, SchemaStatement>()
  return (statement) => {
    const known = made.get(statement)
    if (known !== undefined) return known
    const text = inSchema(statement.text, schemaName)
    // The hash distinguishes statements that share a connection: those of other schemas and of other versions of this package.
    const name = statement.name === null ? null : `belay_${statement.name}_${hash(text)}`
    const schemaStatement = { name, text, timeoutMs: statement.timeoutMs }
    made.set(statement, schemaStatement)
    return schemaStatement
  }
}

/** Replaces the default schema in a text with the given one. */
export function inSchema(text: string, schemaName: string): string {
  const quoted = quoteIdentifier(schemaName)
  return text
    .replaceAll(`${quoteIdentifier(DEFAULT_SCHEMA)}`, () => quoted)
    .replaceAll(new RegExp(`\\b${DEFAULT_SCHEMA}\\.(?=[a-z])`, 'g'), () => `${quoted}.`)
}

/** A short fingerprint for names: FNV-1a forwards and backwards, which needs no dependency in any runtime. */
export function hash(text: string): string {
  let forwards = 0x811c9dc5
  let backwards = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    forwards = Math.imul(forwards ^ text.charCodeAt(index), 0x01000193)
    backwards = Math.imul(backwards ^ text.charCodeAt(text.length - 1 - index), 0x01000193)
  }
  return [forwards, backwards].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}
