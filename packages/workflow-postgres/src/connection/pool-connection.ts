import { BelayError } from '@belay/workflow/adapter'
import type { ClientBase, Pool, QueryConfig, QueryResult } from 'pg'
import { type DatabaseAddress, outageOf } from '../base/errors.ts'
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

/** Lends clients of a pool, each to one piece of work at a time. */
export interface Lender {
  /** Takes the client back when the work has ended, however it ends. */
  lend<Result>(work: (client: LentClient) => Promise<Result>): Promise<Result>
}

export interface LentClient {
  /** Its statements may run in sessions that others use too. */
  readonly isPooled: boolean
  /** Rejects once the statement has taken longer than it may: `limitMs`, or else what the lender allows. */
  query(config: QueryConfig<unknown[]>, limitMs?: number): Promise<QueryResult>
}

export interface PoolConnectionOptions {
  readonly lender: Lender
  readonly schema: string
  /** False: unnamed statements only, as poolers in transaction mode need. Left out: unnamed where there is a pooler. */
  readonly prepare?: boolean | undefined
  readonly address: DatabaseAddress
  /** For the message of statements that waited for a lock for longer. */
  readonly lockTimeoutMs?: number
}

type Queryable = Pick<Pool | ClientBase, 'query'> | Pick<LentClient, 'query'>

/** Statements over whatever `pg` has that queries. */
export function statementsOver(
  queryable: Queryable,
  options: { readonly schema: string; readonly prepare: boolean },
  statementFor = makeStatementsFor(options.schema),
): Pick<Connection, 'query' | 'script'> {
  const { schema, prepare } = options
  const run = queryable.query.bind(queryable) as (config: QueryConfig<unknown[]>) => Promise<QueryResult>
  return {
    async query<Row>(statement: Statement<Row>, values: readonly unknown[]) {
      return (await run(queryConfig(statementFor(statement), values, prepare))).rows as readonly Row[]
    },
    async script(text) {
      await run({ text: inSchema(text, schema) })
    },
  }
}

/** Statements over `pg`. Each `query` takes any client of the pool; a transaction keeps one to itself. */
export function poolConnection(options: PoolConnectionOptions): Connection {
  const { lender, schema, address, lockTimeoutMs } = options
  const statementFor = makeStatementsFor(schema)

  const over = (client: Queryable, isPooled: boolean) =>
    statementsOver(client, { schema, prepare: options.prepare ?? !isPooled }, statementFor)

  const guarded = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    try {
      return await repeatOnConflict(run)
    } catch (error) {
      throw outageOf(error, address, lockTimeoutMs)
    }
  }

  const transaction = <Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> =>
    guarded(() =>
      lender.lend((client) => inTransaction(client, (queryable) => over(queryable, client.isPooled), work)),
    )

  return {
    query: (statement, values) =>
      guarded(() => lender.lend((client) => over(client, client.isPooled).query(statement, values))),
    script: (text) => transaction((own) => own.script(text)),
    transaction,
    session: (work) =>
      guarded(() => lender.lend((client) => inSession(client, (queryable) => over(queryable, false), work))),
  }
}

/** Settings and locks of the session go with it, so it must be the same for all statements, and be left as it was. */
async function inSession<Result>(
  client: LentClient,
  over: (queryable: Queryable) => Pick<Connection, 'query' | 'script'>,
  work: (session: Pick<Connection, 'query' | 'script'>) => Promise<Result>,
): Promise<Result> {
  if (client.isPooled) {
    throw new BelayError(
      'store_misconfigured',
      'This migration needs one session for several statements, and a pooler stands between Belay and the server. Run migrate() over a direct connection.',
    )
  }
  const { rows } = await client.query({ text: LIMITS })
  const { statement_limit, lock_limit } = rows[0] as { statement_limit: string; lock_limit: string }
  const limit = (values: readonly string[]) => client.query({ text: SET_LIMITS, values: [...values] })
  await limit([`${MIGRATION_TIMEOUT_MS}ms`, `${MIGRATION_TIMEOUT_MS}ms`])
  try {
    return await work(
      over({ query: (config: QueryConfig<unknown[]>) => client.query(config, MIGRATION_TIMEOUT_MS) }),
    )
  } finally {
    // Who cannot be reached any more is closed by its lender.
    await limit([statement_limit, lock_limit]).catch(ignore)
  }
}

const LIMITS = `select current_setting('statement_timeout') as statement_limit, current_setting('lock_timeout') as lock_limit`
const SET_LIMITS = `select set_config('statement_timeout', $1::text, false), set_config('lock_timeout', $2::text, false)`

async function inTransaction<Result>(
  client: LentClient,
  over: (queryable: Queryable) => Pick<Connection, 'query' | 'script'>,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const statements = over(client)
  const atLength = lengthened(client, over)
  const own: Connection = {
    query: (statement, values) =>
      statement.timeoutMs === undefined
        ? statements.query(statement, values)
        : atLength(statement.timeoutMs, (long) => long.query(statement, values)),
    script: (text) => atLength(MIGRATION_TIMEOUT_MS, (long) => long.script(text)),
    transaction: (nested) => nested(own),
  }
  await client.query({ text: 'begin isolation level read committed' })
  let result: Result
  try {
    result = await work(own)
  } catch (error) {
    // What cannot be reached cannot be told to roll back either: its lender closes the connection.
    await client.query({ text: 'rollback' }).catch(ignore)
    throw error
  }
  await client.query({ text: 'commit' })
  return result
}

/** Statements that may rightly take longer than their session allows: the transaction allows it from then on. */
function lengthened(
  client: LentClient,
  over: (queryable: Queryable) => Pick<Connection, 'query' | 'script'>,
) {
  let allowedMs = 0
  return async <Result>(
    limitMs: number,
    run: (long: Pick<Connection, 'query' | 'script'>) => Promise<Result>,
  ): Promise<Result> => {
    if (allowedMs < limitMs) {
      await client.query({
        text: `set local statement_timeout = ${limitMs}; set local lock_timeout = ${limitMs}`,
      })
      allowedMs = limitMs
    }
    return run(over({ query: (config: QueryConfig<unknown[]>) => client.query(config, limitMs) }))
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
  }
  return prepare && statement.name !== null ? { ...config, name: statement.name } : config
}

function ignore() {}
