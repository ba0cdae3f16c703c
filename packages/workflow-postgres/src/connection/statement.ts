import { DEFAULT_SCHEMA } from '../schema.ts'
import { quoteIdentifier } from '../schema-name.ts'

/**
 * One SQL statement. Its text names the default schema, so that it can be tried in psql as it stands.
 *
 * Statements look rows of runs and steps up by their primary key, and the planner must not get another idea: what the statistics say of
 * a status or a worker is of the moment they were gathered, and a plan lives long. So rows are joined with `= any (array[x])`, which can
 * use the index but neither hash nor merge, and conditions on them name a column of the other side, so that they cannot be used to
 * search the whole table first. For the same reason rows are put in order by the columns of that other side, although theirs are equal: an
 * index that is in that order would be read as a whole. plans.test.ts holds them to it.
 */
export interface Statement<Row> {
  /** Names the prepared statement; null for texts that vary, which are not worth preparing. */
  readonly name: string | null
  readonly text: string
  /** Set on statements that may rightly take longer than a connection allows: migrations wait for one another. */
  readonly timeoutMs?: number
  /** Type only: what a row of the result looks like. */
  readonly row?: Row
}

/** A statement as one schema's connection runs it. */
export interface SchemaStatement {
  readonly name: string | null
  readonly text: string
  readonly timeoutMs: number | undefined
}

/** How long a migration, or the wait for another process's, may take. */
export const MIGRATION_TIMEOUT_MS = 600_000

/** Points statements at the given schema. Keeps what it made: the texts are long, and run thousands of times a second. */
export function makeStatementsFor(schemaName: string): (statement: Statement<unknown>) => SchemaStatement {
  const made = new Map<Statement<unknown>, SchemaStatement>()
  return (statement) => {
    const known = made.get(statement)
    if (known !== undefined) return known
    const text = inSchema(statement.text, schemaName)
    // The hash keeps apart what shares a connection: other schemas, and other versions of this package.
    const name = statement.name === null ? null : `belay_${statement.name}_${hash(text)}`
    const schemaStatement = { name, text, timeoutMs: statement.timeoutMs }
    if (name !== null) made.set(statement, schemaStatement)
    return schemaStatement
  }
}

/** Replaces the default schema in a text by the given one. */
export function inSchema(text: string, schemaName: string): string {
  const quoted = quoteIdentifier(schemaName)
  return text
    .replaceAll(`${quoteIdentifier(DEFAULT_SCHEMA)}`, () => quoted)
    .replaceAll(new RegExp(`\\b${DEFAULT_SCHEMA}\\.(?=[a-z])`, 'g'), () => `${quoted}.`)
}

/** A short fingerprint for names: FNV-1a forwards and backwards, since it needs no dependency in any runtime. */
export function hash(text: string): string {
  let forwards = 0x811c9dc5
  let backwards = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    forwards = Math.imul(forwards ^ text.charCodeAt(index), 0x01000193)
    backwards = Math.imul(backwards ^ text.charCodeAt(text.length - 1 - index), 0x01000193)
  }
  return [forwards, backwards].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}
