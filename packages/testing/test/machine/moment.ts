import type { Definition } from './definitions.ts'
import type { Happening, Reply, View } from './view.ts'

/** What one engine shows, and what it replied. */
export interface Side extends View {
  readonly reply: Reply | undefined
}

/** Where the two engines stand after something has happened. */
export interface Moment {
  readonly definition: Definition
  /** Null: the run has begun. */
  readonly happening: Happening | null
  readonly before: View | null
  readonly today: Side
  readonly machine: Side
  /** An operator let something run again. */
  readonly wasRetried: boolean
  /** An operator cancelled the run while it was paused. */
  readonly wasCancelledInPause: boolean
  /** Units of which an attempt was released before its handler began. */
  readonly released: ReadonlySet<string>
  /** By how many rounds a unit of the machine is behind. */
  readonly roundsBehind: ReadonlyMap<string, number>
}
