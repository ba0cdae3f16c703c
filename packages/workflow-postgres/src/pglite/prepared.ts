import type { PGliteInterface } from '@electric-sql/pglite'
import { columnTypes } from '../connection/column-types.ts'
import { listText } from '../connection/list-text.ts'
import { PLAN_SETTINGS } from '../connection/plan-settings.ts'
import { VALUE_SETTINGS } from '../connection/value-settings.ts'
import { ProtocolMessages } from './protocol.ts'

/** A database that can tell whether a transaction is open in its session. One in another Web Worker cannot. */
type Database = PGliteInterface & { isInTransaction(): boolean }

interface Column {
  readonly name: string
  readonly read: (text: string) => unknown
}

interface NamedStatement {
  readonly name: string
  readonly text: string
}

/** Belay has about 110 statements. Each keeps a plan in PGlite's memory, and an application may use several schemas. */
const STATEMENTS_MAX = 120

/**
 * The plan is made for any values and for tables of any size, as in PostgreSQL. Local to the transaction: the application's own statements run in the
 * same session, and may have changed what values mean in it.
 */
const SETTINGS: NamedStatement = {
  name: 'belay_plan_settings',
  text: `select ${[...PLAN_SETTINGS, ...VALUE_SETTINGS].map(([name, value]) => `set_config('${name}', ${value}, true)`).join(', ')}`,
}

/**
 * The prepared statements of one PGlite. Its own query() parses and plans a statement at every call, which takes several times as long as executing
 * most of Belay's.
 */
export class PreparedStatements {
  readonly #database: Database
  /** The columns of each statement; the one that was not used for longest comes first. */
  readonly #columns = new Map<string, readonly Column[]>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Runs a statement as one transaction. Resolves null, without having run it, while a transaction is open: then it must wait for its turn. */
  runAlone<Row>(statement: NamedStatement, values: readonly unknown[]): Promise<readonly Row[] | null> {
    const database = this.#database
    // Under PGlite's lock, so that nobody's transaction can begin between the question and the statement.
    return database.runExclusive(async () => {
      if (!database.ready || database.isInTransaction()) return null
      try {
        return await this.#run<Row>(statement, values, true)
      } catch (error) {
        if (!this.#forgetIfStale(error)) throw error
        return this.#run<Row>(statement, values, true)
      }
    })
  }

  /** Runs a statement in the transaction that the caller has opened. After an error for which `isStale()` holds, the transaction may be repeated. */
  runWithin<Row>(statement: NamedStatement, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#database.runExclusive(async () => {
      try {
        return await this.#run<Row>(statement, values, false)
      } catch (error) {
        this.#forgetIfStale(error)
        throw error
      }
    })
  }

  async #run<Row>(
    statement: NamedStatement,
    values: readonly unknown[],
    syncToFs: boolean,
  ): Promise<readonly Row[]> {
    await this.#prepare(SETTINGS)
    const columns = await this.#prepare(statement)
    const messages = new ProtocolMessages()
    messages.bind(SETTINGS.name, []).execute().bind(statement.name, values.map(valueText)).execute().sync()
    const answer = await this.#database.execProtocol(messages.bytes(), { syncToFs })
    const rows: Row[] = []
    // The first row is that of the settings.
    let isOfSettings = true
    for (const message of answer.messages) {
      if (message.name !== 'dataRow') continue
      if (!isOfSettings) rows.push(rowOf(columns, (message as unknown as DataRow).fields) as Row)
      isOfSettings = false
    }
    return rows
  }

  /** The columns of a statement, which is prepared unless it is. Closes the one that was not used for longest if there are too many. */
  async #prepare({ name, text }: NamedStatement): Promise<readonly Column[]> {
    const known = this.#columns.get(name)
    if (known !== undefined) {
      this.#columns.delete(name)
      this.#columns.set(name, known)
      return known
    }
    const messages = new ProtocolMessages()
    const [oldest] = this.#columns.keys()
    if (oldest !== undefined && this.#columns.size >= STATEMENTS_MAX) {
      this.#columns.delete(oldest)
      messages.close(oldest)
    }
    // Closed first: another object for the same database may have prepared it.
    messages.close(name).parse(name, text).describe(name).sync()
    const answer = await this.#database.execProtocol(messages.bytes(), { syncToFs: false })
    const description = answer.messages.find((message) => message.name === 'rowDescription')
    const fields = (description as unknown as RowDescription | undefined)?.fields ?? []
    const columns = fields.map((field) => ({
      name: field.name,
      read: columnTypes.getTypeParser(field.dataTypeID),
    }))
    this.#columns.set(name, columns)
    return columns
  }

  #forgetIfStale(error: unknown): boolean {
    if (!isStale(error)) return false
    this.#columns.clear()
    return true
  }
}

/** The application has discarded the prepared statements of the session, or changed a table so that a statement has other columns. */
export function isStale(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error)) return false
  return error.code === '26000' || (error.code === '0A000' && /cached plan/.test(error.message))
}

interface DataRow {
  readonly fields: readonly (string | null)[]
}

interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[]
}

function valueText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return listText(value)
  if (typeof value === 'object')
    throw new TypeError('A parameter of a statement is a text, a number, a boolean or a list.')
  return String(value)
}

function rowOf(columns: readonly Column[], fields: DataRow['fields']): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  columns.forEach(({ name, read }, index) => {
    const text = fields[index] ?? null
    row[name] = text === null ? null : read(text)
  })
  return row
}

const known = new WeakMap<PGliteInterface, PreparedStatements>()

/** The prepared statements of a database; undefined if it cannot have any. */
export function preparedIn(database: PGliteInterface): PreparedStatements | undefined {
  if (!('isInTransaction' in database && typeof database.isInTransaction === 'function')) return undefined
  const prepared = known.get(database) ?? new PreparedStatements(database as Database)
  known.set(database, prepared)
  return prepared
}
