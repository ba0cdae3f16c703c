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
