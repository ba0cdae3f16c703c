import { BelayError } from '@belay/workflow/adapter'
import type { ClientBase, Pool, QueryConfig, QueryResult } from 'pg'
import { codeOf, type DatabaseAddress, noteStandby, outageOf, READ_ONLY } from '../base/errors.ts'
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
import { NOT_ODD } from './value-settings.ts'

/** Lends the clients of a pool, each to one piece of work at a time. */
export interface Lender {
  /** Takes the client back when the work has ended, successfully or not. */
  lend<Result>(work: (client: LentClient) => Promise<Result>): Promise<Result>
}

export interface LentClient {
  /** Its statements may run in sessions that others also use. */
  readonly isPooled: boolean
  /** The settings of its session are Belay's. Else anyone may have made others, and may still. */
  readonly isOwn?: boolean
  /** Its session was found to be odd: `ODD` in value-settings.ts. */
  readonly isOdd?: boolean
  /** Rejects if the statement takes longer than `limitMs`, by default the lender's limit. */
  query(config: QueryConfig<unknown[]>, limitMs?: number): Promise<QueryResult>
}

export interface PoolConnectionOptions {
  readonly lender: Lender
  readonly schema: string
  /** False: unnamed statements only, as poolers in transaction mode need. Default: unnamed if there is a pooler. */
  readonly prepare?: boolean | undefined
  readonly address: DatabaseAddress
  /** For the message when a statement waits longer than this for a lock. */
  readonly lockTimeoutMs?: number
}

type Queryable = Pick<Pool | ClientBase, 'query'> | Pick<LentClient, 'query'>

/** Runs statements over a client or pool of `pg`. */
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

/** Runs statements over `pg`. Each `query` may take a different client; a transaction keeps one client. */
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

  const alone = <Row>(client: LentClient, statement: Statement<Row>, values: readonly unknown[]) => {
    const within = () =>
      inTransaction(
        client,
        (queryable) => over(queryable, client.isPooled),
        (own) => own.query(statement, values),
      )
    if (client.isOdd === true) return within()
    return over(client, client.isPooled)
      .query(statement, values)
      .catch((error: unknown) => {
        // The session may begin transactions read only, or have become odd: by a setting of its role, its database or the server, or by another
        // client behind a pooler. The statement has had no effect.
        if (REFUSED_BY_SETTINGS.has(codeOf(error) ?? '')) return within()
        throw error
      })
  }

  return {
    query: (statement, values) => guarded(() => lender.lend((client) => alone(client, statement, values))),
    script: (text) => transaction((own) => own.script(text)),
    transaction,
    session: (work) =>
      guarded(() => lender.lend((client) => inSession(client, (queryable) => over(queryable, false), work))),
  }
}

/** Runs all statements in one session, because settings and locks belong to a session. Restores the settings at the end. */
async function inSession<Result>(
  client: LentClient,
  over: (queryable: Queryable) => Pick<Connection, 'query' | 'script'>,
  work: (session: Pick<Connection, 'query' | 'script'>) => Promise<Result>,
): Promise<Result> {
  if (client.isPooled) {
    throw new BelayError(
      'store_misconfigured',
      'This migration needs one session for several statements, but a pooler is between Belay and the server.',
      { remedy: 'Run migrate() over a direct connection.' },
    )
  }
  const { rows } = await client.query({ text: LIMITS })
  const had = rows[0] as { statement_limit: string; lock_limit: string; read_only: string }
  const limit = (values: readonly string[]) => client.query({ text: SET_LIMITS, values: [...values] })
  await limit([`${MIGRATION_TIMEOUT_MS}ms`, `${MIGRATION_TIMEOUT_MS}ms`, 'off'])
  try {
    return await work(
      over({ query: (config: QueryConfig<unknown[]>) => client.query(config, MIGRATION_TIMEOUT_MS) }),
    )
  } finally {
    // If the client cannot be reached, its lender closes it.
    await limit([had.statement_limit, had.lock_limit, had.read_only]).catch(ignore)
  }
}

const LIMITS = `select current_setting('statement_timeout') as statement_limit, current_setting('lock_timeout') as lock_limit,
  current_setting('default_transaction_read_only') as read_only`
const SET_LIMITS = `select set_config('statement_timeout', $1::text, false), set_config('lock_timeout', $2::text, false),
  set_config('default_transaction_read_only', $3::text, false)`

/** Among others for a null in a list of numbers, if array_nulls is off. */
const INVALID_TEXT = '22P02'

const REFUSED_BY_SETTINGS: ReadonlySet<string> = new Set([READ_ONLY, INVALID_TEXT])

/** Says everything that a setting of the session, its role, its database or the server could say otherwise. */
const BEGIN = 'begin isolation level read committed read write'

const FULL_BEGIN = `${BEGIN}; ${NOT_ODD}`

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
  await client.query({ text: client.isOwn === true ? BEGIN : FULL_BEGIN }).catch((error: unknown) => {
    throw noteStandby(error)
  })
  let result: Result
  try {
    result = await work(own)
  } catch (error) {
    // An unreachable server cannot receive the rollback: then the lender closes the connection.
    await client.query({ text: 'rollback' }).catch(ignore)
    throw error
  }
  await client.query({ text: 'commit' })
  return result
}

/** For statements that may exceed the session's limit: raises the limit for the rest of the transaction. */
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
