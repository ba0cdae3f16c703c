import type { StoreName, Stores } from './stores.ts'

/** Loads a store's dependencies only when it is needed. */
export async function openStores(name: StoreName): Promise<Stores> {
  switch (name) {
    case 'memory':
      return memoryStores()
    case 'pglite':
      return (await import('./pglite-store.ts')).pgliteStores()
    case 'postgres':
      return (await import('./postgres-store.ts')).postgresStores()
  }
}

async function memoryStores(): Promise<Stores> {
  const { memoryStore } = await import('@belay/testing/simulation')
  return { name: 'memory', open: memoryStore, close: async () => {} }
}
