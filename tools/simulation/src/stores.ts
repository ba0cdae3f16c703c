import type { OpenStore } from '@belay/testing/simulation'

/** Where worlds may be kept, one after the other. */
export interface Stores {
  readonly name: 'memory' | 'pglite' | 'postgres'
  /** Makes the store of one world; the world before must have closed its own. */
  readonly open: OpenStore
  close(): Promise<void>
}

export type StoreName = Stores['name']

export const STORE_NAMES: readonly StoreName[] = ['memory', 'pglite', 'postgres']

/** What a store needs is loaded only when it is asked for. */
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
