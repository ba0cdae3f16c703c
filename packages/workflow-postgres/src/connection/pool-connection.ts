import type { ClientBase, Pool, QueryConfig } from 'pg'
import { classified, type DatabaseAddress, isUnavailable } from '../errors.ts'
import { columnTypes } from './column-types.ts'
import type { Connection } from './connection.ts'
import { listText } from './list-text.ts'
import { repeatOnConflict } from './repeat.ts'
import {
  inSchema,
  MIGRATION_TIMEOUT_MS,
  makeStatementsFor,
  type SchemaStatement,
  type Statement,
} from './statement.ts'

export interface PoolConnectionOptions {
  readonly pool: Pool
  readonly schema: string
  /** False: unnamed statements only, as poolers in transaction mode need. */
  readonly prepare: boolean
  readonly address: DatabaseAddress
}

type Queryable = Pick<Pool | ClientBase, 'query'>

/** Statements over whatever `pg` has that queries. */
export function statementsOver(
  queryable: Queryable,
  options: Pick<PoolConnectionOptions, 'schema' | 'prepare'>,
  statementFor = makeStatementsFor(options.schema),
): Pick<Connection, 'query' | 'script'> {
  const { schema, prepare } = options
  return {
    async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      const result = await queryable.query(queryConfig(statementFor(statement), values, prepare))
      return result.rows as readonly Row[]
    },
    async script(text) {
      await queryable.query({ text: inSchema(text, schema), ...limit(MIGRATION_TIMEOUT_MS) })
    },
  }
}

/** Statements over `pg`. Each `query` takes any client of the pool; a transaction keeps one to itself. */
export function poolConnection(options: PoolConnectionOptions): Connection {
  const { pool, schema, address } = options
  const statementFor = makeStatementsFor(schema)

  const over = (queryable: Queryable) => statementsOver(queryable, options, statementFor)

  const inTransaction = async <Result>(work: (connection: Connection) => Promise<Result>) => {
    const client = await pool.connect()
    // While it is out of the pool, nobody else listens: without this a broken connection would end the process.
    client.on('error', ignore)
    let broken: Error | undefined
    try {
      await client.query('begin isolation level read committed')
      const own: Connection = { ...over(client), transaction: (nested) => nested(own) }
      const result = await work(own)
      await client.query('commit')
      return result
    } catch (error) {
      // What cannot be reached cannot be told to roll back either; closing the connection does it.
      if (isUnavailable(error)) broken = error as Error
      else await client.query('rollback').catch((failure: Error) => (broken = failure))
      throw error
    } finally {
      client.removeListener('error', ignore)
      client.release(broken)
    }
  }

  const guarded = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    try {
      return await repeatOnConflict(run)
    } catch (error) {
      throw classified(error, address)
    }
  }

  return {
    query: (statement, values) => guarded(() => over(pool).query(statement, values)),
    script: (text) => guarded(() => over(pool).script(text)),
    transaction: (work) => guarded(() => inTransaction(work)),
  }
}

function queryConfig(
  statement: SchemaStatement,
  values: readonly unknown[],
  prepare: boolean,
): QueryConfig<unknown[]> {
  const config = {
    text: statement.text,
    values: values.map((value) => (Array.isArray(value) ? listText(value) : value)),
    types: columnTypes,
    ...(statement.timeoutMs === undefined ? {} : limit(statement.timeoutMs)),
  }
  return prepare && statement.name !== null ? { ...config, name: statement.name } : config
}

// pg takes it for a single query too, which its types don't say.
function limit(timeoutMs: number): { query_timeout: number } {
  return { query_timeout: timeoutMs }
}

function ignore() {}
