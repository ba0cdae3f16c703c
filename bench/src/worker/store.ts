import { memory } from '@belay/testing'
import type { Adapter } from '@belay/workflow/adapter'
import { postgres } from '@belay/workflow-postgres'
import { pglite } from '@belay/workflow-postgres/pglite'
import type { Store } from './messages.ts'

export interface OpenedStore {
  readonly adapter: Adapter
  /** Statements sent so far. */
  readonly statements: () => number
}

export function openStore(store: Store, given: { schema: string; name: string }): OpenedStore {
  switch (store.kind) {
    case 'postgres':
      return openPostgres(store.url, given)
    case 'pglite':
      return { adapter: pglite(store.directory), statements: () => 0 }
    case 'memory':
      return { adapter: memory({ clock: 'real' }), statements: () => 0 }
  }
}

function openPostgres(address: string, { schema, name }: { schema: string; name: string }): OpenedStore {
  const url = new URL(address)
  url.searchParams.set('application_name', name)
  const adapter = postgres(url.href, { autoMigrate: true, schema })
  let statements = 0
  // Each query of a client is one round trip: its messages are sent together.
  adapter.pool.on('connect', (client) => {
    client.query = new Proxy(client.query, {
      apply(query, self, given) {
        statements += 1
        return Reflect.apply(query, self, given)
      },
    })
  })
  return { adapter, statements: () => statements }
}
