import type { SimulatedStore } from '@belay/testing/simulation'
import type { Adapter } from '@belay/workflow/adapter'
import { damage } from './damage.ts'
import { SqlDump } from './sql-dump.ts'
import { empty, type Query, readWritten, setTime, write } from './statements.ts'

export interface SqlStoreParts {
  readonly schema: string
  /** A new adapter on the schema, for one process. */
  readonly adapter: () => Adapter
  /** The database, beside all adapters. */
  readonly query: Query
  readonly singleSession: boolean
  /** Runs SQL in an open transaction, of a step or an application. */
  readonly queryWithin: (tx: unknown) => Query
  readonly transaction: SimulatedStore['transaction']
}

/** A world's store in a schema of an existing database. The schema is empty before and after. */
export async function sqlStore(parts: SqlStoreParts): Promise<SimulatedStore> {
  const { schema, query } = parts
  await empty(query, schema)
  const adapters: Adapter[] = []
  const connect = () => {
    const adapter = parts.adapter()
    adapters.push(adapter)
    return adapter
  }
  const reader = connect()
  await reader.open()
  const dump = new SqlDump(reader, query, schema)
  return {
    connect,
    takesTime: true,
    singleSession: parts.singleSession,
    setTime: (now, tx) => setTime(tx === undefined ? query : parts.queryWithin(tx), schema, now),
    dump: () => dump.read(),
    async damage(runId, kind) {
      await damage(query, schema, { runId, kind })
      dump.leaveOut(runId)
    },
    write: (tx, written) => write(parts.queryWithin(tx), schema, written),
    written: () => readWritten(query, schema),
    transaction: parts.transaction,
    async close() {
      await Promise.all(adapters.map((adapter) => adapter.close()))
    },
  }
}
