import type { Adapter } from './adapter.ts'

/** Names of the port's verbs, optional ones included. */
export type VerbName = {
  [Name in keyof Adapter]-?: NonNullable<Adapter[Name]> extends (...args: never) => unknown ? Name : never
}[keyof Adapter]

/**
 * What a caller does if the answer of a verb is lost.
 *
 * `again`: it calls again, which is harmless and gives the same answer. `compare`: it calls again, and asks `held` for steps that the lost call may
 * have leased to it. `ask`: it asks `recorded`. `look`: it reads the run, then decides. `nothing`: the verb only carries hints, checks options, or
 * closes connections.
 */
export type LostAnswer = 'again' | 'compare' | 'ask' | 'look' | 'nothing'

/** What everybody must know who calls, wraps, tests or implements a verb. */
export interface VerbFacts {
  /** The verb's purpose. */
  readonly purpose:
    | 'connection'
    | 'definitions'
    | 'start'
    | 'worker'
    | 'work'
    | 'undo'
    | 'waits'
    | 'control'
    | 'ends'
    | 'schedules'
    | 'limits'
    | 'reading'
    | 'retention'
    | 'hints'
  readonly lostAnswer: LostAnswer
  /** It waits, for a bounded time, for locked rows, and may then throw `StoreContendedError`. */
  readonly contended?: true
  /** It takes `{ tx }` and is then part of the caller's transaction. */
  readonly within?: true
  /** An adapter may omit it. */
  readonly optional?: true
}

/** Facts that follow from a verb's declaration in {@link Adapter}: its entry must agree with them. */
type DeclaredFacts<Name extends VerbName> = ('tx' extends ParameterKeys<Adapter[Name]>
  ? { readonly within: true }
  : { readonly within?: never }) &
  (undefined extends Adapter[Name] ? { readonly optional: true } : { readonly optional?: never })

type ParameterKeys<Verb> = Verb extends (...args: infer Args) => unknown ? KeysOf<Args[number]> : never

type KeysOf<Union> = Union extends unknown ? keyof Union : never

/** Every verb of the port. A verb that is in {@link Adapter} but not here does not compile. */
export const VERBS = {
  open: { purpose: 'connection', lostAnswer: 'again' },
  allowMigrations: { purpose: 'connection', lostAnswer: 'nothing', optional: true },
  now: { purpose: 'connection', lostAnswer: 'again', within: true },
  checkTransactions: { purpose: 'connection', lostAnswer: 'nothing', optional: true },
  timeline: { purpose: 'connection', lostAnswer: 'again', optional: true },
  close: { purpose: 'connection', lostAnswer: 'nothing' },

  saveDefinitions: { purpose: 'definitions', lostAnswer: 'again', within: true },
  readDefinitions: { purpose: 'definitions', lostAnswer: 'again', within: true },
  findDefinition: { purpose: 'definitions', lostAnswer: 'again', within: true },
  listDefinitions: { purpose: 'definitions', lostAnswer: 'again' },

  startRuns: { purpose: 'start', lostAnswer: 'compare', contended: true, within: true },
  collectCalls: { purpose: 'start', lostAnswer: 'again', contended: true, within: true },
  readCollected: { purpose: 'reading', lostAnswer: 'again' },

  registerWorker: { purpose: 'worker', lostAnswer: 'again' },
  renew: { purpose: 'worker', lostAnswer: 'again' },
  deregisterWorker: { purpose: 'worker', lostAnswer: 'again' },
  sweep: { purpose: 'worker', lostAnswer: 'again' },

  claim: { purpose: 'work', lostAnswer: 'compare' },
  held: { purpose: 'work', lostAnswer: 'again' },
  load: { purpose: 'work', lostAnswer: 'again' },
  publish: { purpose: 'work', lostAnswer: 'again' },
  settle: { purpose: 'work', lostAnswer: 'compare', contended: true },
  transact: { purpose: 'work', lostAnswer: 'ask' },
  recorded: { purpose: 'work', lostAnswer: 'again' },

  stopping: { purpose: 'undo', lostAnswer: 'again' },
  drain: { purpose: 'undo', lostAnswer: 'again' },
  beginUndo: { purpose: 'undo', lostAnswer: 'compare', contended: true },

  deliverSignals: { purpose: 'waits', lostAnswer: 'again', contended: true, within: true },
  findApprovals: { purpose: 'waits', lostAnswer: 'again' },
  upcoming: { purpose: 'waits', lostAnswer: 'again' },
  expireRuns: { purpose: 'waits', lostAnswer: 'again' },

  cancelRuns: { purpose: 'control', lostAnswer: 'again', contended: true },
  changeRun: { purpose: 'control', lostAnswer: 'look', contended: true, within: true },
  readHistory: { purpose: 'control', lostAnswer: 'again' },
  readAttempts: { purpose: 'control', lostAnswer: 'again' },

  findRun: { purpose: 'reading', lostAnswer: 'again', within: true },
  readRun: { purpose: 'reading', lostAnswer: 'again' },
  readValues: { purpose: 'reading', lostAnswer: 'again' },
  observeRuns: { purpose: 'reading', lostAnswer: 'again' },
  readStatuses: { purpose: 'reading', lostAnswer: 'again' },
  readResults: { purpose: 'reading', lostAnswer: 'again' },
  listRuns: { purpose: 'reading', lostAnswer: 'again' },
  countRuns: { purpose: 'reading', lostAnswer: 'again' },
  countReady: { purpose: 'reading', lostAnswer: 'again' },
  listWorkers: { purpose: 'reading', lostAnswer: 'again' },
  listHeld: { purpose: 'reading', lostAnswer: 'again' },
  diagnose: { purpose: 'reading', lostAnswer: 'again' },

  findRunEnds: { purpose: 'ends', lostAnswer: 'again' },
  wakeParents: { purpose: 'ends', lostAnswer: 'again' },
  forgetRunEnds: { purpose: 'ends', lostAnswer: 'again' },

  changeSchedules: { purpose: 'schedules', lostAnswer: 'look', contended: true, within: true },
  readSchedules: { purpose: 'schedules', lostAnswer: 'again' },
  readFirings: { purpose: 'schedules', lostAnswer: 'again' },
  declareLimits: { purpose: 'limits', lostAnswer: 'again' },
  setLimit: { purpose: 'limits', lostAnswer: 'again' },
  readLimits: { purpose: 'limits', lostAnswer: 'again' },
  readLimitLines: { purpose: 'limits', lostAnswer: 'again' },
  readLimitWaits: { purpose: 'limits', lostAnswer: 'again' },
  readLimitCircles: { purpose: 'limits', lostAnswer: 'again' },
  pushBackLimits: { purpose: 'limits', lostAnswer: 'again' },
  findOlderRuns: { purpose: 'limits', lostAnswer: 'again' },
  tendLimits: { purpose: 'limits', lostAnswer: 'again' },

  findEnded: { purpose: 'retention', lostAnswer: 'again' },
  prune: { purpose: 'retention', lostAnswer: 'again' },
  releaseKeys: { purpose: 'retention', lostAnswer: 'again' },

  onWake: { purpose: 'hints', lostAnswer: 'nothing' },
  wake: { purpose: 'hints', lostAnswer: 'nothing' },
  onNews: { purpose: 'hints', lostAnswer: 'nothing', optional: true },
  tell: { purpose: 'hints', lostAnswer: 'nothing', optional: true },
  onNotice: { purpose: 'hints', lostAnswer: 'nothing', optional: true },
} as const satisfies { readonly [Name in VerbName]: VerbFacts & DeclaredFacts<Name> }

/** The verbs that ask the store something, so their answer can be lost. */
export const ASKING_VERBS: readonly VerbName[] = namesWhere(({ lostAnswer }) => lostAnswer !== 'nothing')

/** The verbs that wait for locked rows. */
export const CONTENDED_VERBS: readonly VerbName[] = namesWhere(({ contended }) => contended === true)

function namesWhere(holds: (facts: VerbFacts) => boolean): readonly VerbName[] {
  return Object.entries<VerbFacts>(VERBS).flatMap(([name, facts]) => (holds(facts) ? [name as VerbName] : []))
}
