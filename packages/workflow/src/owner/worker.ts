import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { MachineEvent } from '../machine/index.ts'
import type { Hint, Identity, OwnedRun, Store } from '../store/index.ts'
import type { Asker } from './asker.ts'
import type { Code } from './code.ts'
import type { FoldParts } from './fold.ts'
import type { Handlers } from './handlers.ts'
import type { Flight, Owned } from './owned.ts'
import type { Interruption } from './under-way.ts'

/** What is applied again, once it is known what the rows say. */
export interface Doubted {
  readonly owned: Owned
  readonly events: readonly MachineEvent[]
  readonly answers: readonly Flight[]
  /** The store has lost commits that it had answered. */
  readonly hasLostCommits?: boolean
}

/** What the parts of an owner know of it, and of each other. */
export interface Worker {
  readonly store: Store
  readonly asker: Asker
  readonly codes: ReadonlyMap<number, Code>
  readonly codeOf: (definition: number) => Promise<Code | undefined>
  readonly clock: Clock
  /** Time is virtual: it stands still until a test moves it. */
  readonly isVirtual: boolean
  readonly newId: () => string
  readonly log: Logger
  readonly name: string
  readonly host: string | null
  readonly slots: number
  readonly leaseMs: number
  readonly ownedMax: number
  readonly owned: Map<string, Owned>
  readonly foldParts: FoldParts
  readonly handlers: Handlers
  readonly commits: {
    readonly waiting: number
    mark(owned: Owned): void
    free(owned: Owned): void
  }
  readonly recovery: {
    readonly isOver: boolean
    readonly over: Promise<void> | null
    doubt(doubted: readonly Doubted[], how: { readonly isLost: boolean }): Promise<void>
    findLost(): Promise<void>
    reborn(): Promise<void>
  }
  readonly intake: {
    expect(mailed: 'hinted' | 'all'): void
    take(ids: readonly string[]): Promise<readonly string[]>
    adopt(runs: readonly OwnedRun[]): Promise<void>
    rebuild(owned: Owned, stored: OwnedRun, again: Omit<Doubted, 'owned'>): void
  }
  readonly lease: { register(): Promise<void>; renew(): Promise<void> }
  readonly post: { read(how: 'hinted' | 'all'): Promise<void> }
  /** By which people know it, in its present identity. */
  workerId: string
  identity: Identity
  /** How often runs have come and gone. */
  moves: number
  /** It takes no more runs, and gives away those that it has. */
  readonly isLeaving: boolean
  readonly isClosed: boolean
  /** Nothing is under way between the worker and its store that makes runs come or go. */
  readonly isQuiet: boolean
  /** The store’s clock, in epoch milliseconds. */
  readonly now: () => number
  /** Listeners are to know that a run has another status, or is parked; with when it ended. */
  readonly onTurned: ((owned: Owned, finishedAt: number | null) => void) | undefined
  wake(): void
  tell(owned: Owned, event: MachineEvent): void
  forget(owned: Owned, reason: Interruption): void
  arm(owned: Owned): void
  hint(hint: Hint): void
}
