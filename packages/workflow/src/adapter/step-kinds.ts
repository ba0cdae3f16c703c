import type { MapKind } from './map-kind.ts'
import type { StepShape, WaitKind } from './records.ts'

/** What a step does when its turn comes: it works, chooses a case, waits, or is part of a map or a loop. In a shape, a step that works has no `kind`. */
export type StepKind = 'work' | 'choose' | WaitKind | MapKind

/** What the code asks of a kind of step. A question that is not answered here is answered by an exhaustive switch. */
export interface StepKindFacts {
  /** What a diff of two shapes says of such a step. */
  readonly does: string
  /** Precedes the step's name in a Mermaid chart. Empty for a step that works. */
  readonly mark: string
  /** A process that has no handler for the step cannot run it. */
  readonly needsHandler: boolean
  /** What ends the wait. `answer`: the step's handler is called again and again until it has one. `child`: the end of
   * the run that it started. Null for a step that works or chooses. */
  readonly endsBy: 'time' | 'signal' | 'answer' | 'child' | null
  /** While the step waits, an operator's `retryStep()` lets it continue at once. Otherwise `retryStep()` is refused. */
  readonly hurriedByRetry: boolean
  /** Set for every kind that ends by a signal, and for no other. */
  readonly signal?: SignalFacts
}

/** How errors and explanations speak of the signal that a step waits for. */
export interface SignalFacts {
  readonly noun: string
  /** The noun with what belongs before it: "waits for its signal". */
  readonly awaited: string
  /** What the step is said to wait for: "waits for an approval". */
  readonly what: string
  /** The methods of a run that send it. */
  readonly sentBy: string
}

/** Every kind of step. A kind that is added to {@link WaitKind} and not here does not compile. */
export const STEP_KINDS = {
  work: { does: 'works', mark: '', needsHandler: true, endsBy: null, hurriedByRetry: false },
  choose: { does: 'chooses a case', mark: '◇', needsHandler: true, endsBy: null, hurriedByRetry: false },
  // A sleep calls a handler only if its length is computed, and then the handler is part of the definition.
  sleep: { does: 'sleeps', mark: '⏲', needsHandler: false, endsBy: 'time', hurriedByRetry: false },
  signal: {
    does: 'waits for a signal',
    mark: '✉',
    needsHandler: false,
    endsBy: 'signal',
    hurriedByRetry: false,
    signal: { noun: 'signal', awaited: 'its signal', what: 'a signal', sentBy: 'signal()' },
  },
  approval: {
    does: 'waits for an approval',
    mark: '☑',
    needsHandler: false,
    endsBy: 'signal',
    hurriedByRetry: false,
    signal: {
      noun: 'decision',
      awaited: 'a decision',
      what: 'an approval',
      sentBy: 'approve() or reject()',
    },
  },
  map: { does: 'maps', mark: '⇉', needsHandler: true, endsBy: null, hurriedByRetry: false },
  repeat: { does: 'repeats', mark: '↻', needsHandler: true, endsBy: null, hurriedByRetry: false },
  join: {
    does: 'joins a map or a loop',
    mark: '⇇',
    needsHandler: false,
    endsBy: null,
    hurriedByRetry: false,
  },
  // Its input is computed only if its definition says so, and then the function is part of the definition.
  child: { does: 'runs a child', mark: '⧉', needsHandler: false, endsBy: 'child', hurriedByRetry: true },
  poll: { does: 'polls', mark: '⟳', needsHandler: true, endsBy: 'answer', hurriedByRetry: true },
} as const satisfies Readonly<
  Record<
    StepKind,
    StepKindFacts & ({ endsBy: 'signal'; signal: SignalFacts } | { endsBy: unknown; signal?: never })
  >
>

/** The kinds that end by a signal. */
export type SignalKind = {
  [Kind in WaitKind]: (typeof STEP_KINDS)[Kind]['endsBy'] extends 'signal' ? Kind : never
}[WaitKind]

/** The facts of a step, as its shape names its kind. Undefined for a kind that a newer release has stored. */
export function factsOfKind(kind: StepShape['kind']): StepKindFacts | undefined {
  return (STEP_KINDS as Readonly<Record<string, StepKindFacts>>)[kind ?? 'work']
}
