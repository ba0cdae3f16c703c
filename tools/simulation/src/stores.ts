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
