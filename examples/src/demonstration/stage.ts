import type { Adapter } from '@belay/workflow/adapter'
import type { Database } from '../database.ts'
import type { Screen } from '../terminal/screen.ts'

/** What a demonstration receives. */
export interface Stage {
  readonly adapter: Adapter
  readonly database: Database
  readonly screen: Screen
  /** A folder for files. */
  readonly filesFolder: string
  /** How long each service of the shop, and storing a picture, takes. */
  readonly paceMs: number
  /** Whether to show the rows as the tables have them. */
  readonly sql: boolean
  /** Aborted when the user wants to stop. */
  readonly interrupted: AbortSignal
}
