import { type Adapter, type ChangedRun, isTerminal, type RunEnd } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { ChildRuns } from '../attempt/child-runs.ts'
import type { Idling, Loop } from '../base/loop.ts'
import { type OutageWatch, watchedLoop } from '../base/outage.ts'
import type { Runtime } from '../base/runtime.ts'
import type { SetAside } from '../base/set-aside.ts'

/** The most ends that are handed on together. */
const ROUND_MAX = 200

/**
 * Does something that follows from ends of runs: starts a follow-up, tells a parent. It is given an end at least once, maybe by two workers at a time,
 * so it must be harmless to repeat. Ends that do not concern it are ignored. If it throws, its ends are handed to it again later; so are those that it
 * returns.
 */
export type EndFollower = (ends: readonly RunEnd[]) => Promise<readonly RunEnd[]>

/** What else than the run itself its end, its stop, or a step of it may concern. */
export interface Followers {
  /** What follows from the ends of runs that report them. */
  readonly endFollowers: readonly EndFollower[]
  /** These runs were stopped, here or elsewhere. May be told again. */
  readonly onStopped: (runIds: readonly string[]) => void
  readonly children: ChildRuns
}

export interface RunEndsParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly aside: SetAside
  /** The runnable definitions, by the store's number. */
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly endFollowers: readonly EndFollower[]
  readonly intervalMs: () => number
  readonly idling: Idling | undefined
}

/**
 * Hands the ends of runs to whatever follows from them, and forgets an end once all of it has been done. The worker that ends a run looks at once; all
 * workers look at intervals, because that one may have died, and because an operator may have ended the run.
 */
export class RunEnds {
  readonly #parts: RunEndsParts
  readonly #loop: Loop
  #found = 0

  constructor(parts: RunEndsParts) {
    this.#parts = parts
    const { runtime, outage, intervalMs, idling } = parts
    const mayRest = () => parts.endFollowers.length === 0
    this.#loop = watchedLoop(runtime.clock, outage, { intervalMs, mayRest, idling, work: () => this.#look() })
  }

  /** Whether the newest look found no ends. */
  get hasFoundNone(): boolean {
    return this.#found === 0
  }

  wake(): void {
    this.#loop.wake()
  }

  /** These runs changed. Looks if one of them ended and reports it. */
  changed(runs: readonly ChangedRun[]): void {
    if (runs.some(({ reportsEnd, status }) => reportsEnd === true && isTerminal(status))) this.wake()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #look(): Promise<void> {
    const { adapter, definitions, endFollowers, aside } = this.#parts
    if (endFollowers.length === 0 || definitions.size === 0) return
    const definitionIds = [...definitions.keys()]
    let after: string | undefined
    this.#found = 0
    for (;;) {
      const ends = await adapter.findRunEnds({ definitionIds, after, limit: ROUND_MAX })
      this.#found += ends.length
      // An end that cannot be followed is tried again later, and holds up no other.
      await aside.each(ends, {
        subjectOf: ({ runId }) => ({ during: 'following the end', runId }),
        work: (part) => this.#follow(part),
      })
      if (ends.length < ROUND_MAX) return
      after = ends.at(-1)!.sequence
    }
  }

  async #follow(ends: readonly RunEnd[]): Promise<void> {
    const { adapter, endFollowers } = this.#parts
    const later = new Set<RunEnd>()
    for (const follower of endFollowers) for (const end of await follower(ends)) later.add(end)
    await adapter.forgetRunEnds(later.size === 0 ? ends : ends.filter((end) => !later.has(end)))
  }
}
