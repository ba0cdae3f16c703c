import type { OpenStore } from '@belay/testing/simulation'

/** Where worlds can be stored, one after another. */
export interface Stores {
  readonly name: 'memory' | 'pglite' | 'postgres'
  /** Makes the store of one world. The world before must have closed its own. */
  readonly open: OpenStore
  close(): Promise<void>
}

export type StoreName = Stores['name']

export const STORE_NAMES: readonly StoreName[] = ['memory', 'pglite', 'postgres']

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
