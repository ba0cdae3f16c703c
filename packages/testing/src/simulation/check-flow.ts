import type { Adapter, ChangedSchedules, Claimed, Settlement, StartedRun } from '@belay/workflow/adapter'
import type { RunDump } from '../invariants/index.ts'
import { type Claimable, checkClaim, checkPlaces, checkStarted, claimable } from './check-priorities.ts'
import { Rates } from './check-rates.ts'
import { ScheduleWatch } from './check-schedules.ts'
import type { Flow } from './flow.ts'
import type { SharedStore } from './shared-store.ts'
import type { StoreClock } from './store-clock.ts'
import type { Violations } from './violations.ts'

export interface FlowParts {
  readonly flow: Flow
  readonly shared: SharedStore
  readonly storeClock: StoreClock
  /** The world's time. */
  readonly now: () => number
  /** Reads the store without faults. */
  readonly adapter: Adapter
  readonly violations: Violations
}

/** What an oracle checks of flow control besides slots: rates, the order of claims, and schedules. Only in worlds with flow control. */
export class FlowOracle {
  readonly #parts: FlowParts
  readonly #rates: Rates
  readonly #schedules: ScheduleWatch
  /** What claims under way could find when they were asked. */
  readonly #claimable = new Map<unknown, readonly Claimable[]>()

  constructor(parts: FlowParts) {
    this.#parts = parts
    this.#rates = new Rates(this.#broken)
    this.#schedules = new ScheduleWatch(this.#broken)
  }

  /** Right before a call. */
  async asked(verb: string, args: readonly unknown[]): Promise<void> {
    const { flow, shared, storeClock } = this.#parts
    // A database may pass over a step for a while that another session has placed far forward (docs/priorities.md, "What is not strict").
    if (flow === 'none' || verb !== 'claim' || shared.takesTime) return
    this.#claimable.set(args[0], claimable(await shared.dump(), storeClock.now()))
  }

  /** Right after it. */
  async answered(verb: string, args: readonly unknown[], answer: unknown): Promise<void> {
    if (this.#parts.flow === 'none') return
    const { shared } = this.#parts
    switch (verb) {
      case 'claim':
        return this.#claimed(args as Parameters<Adapter['claim']>, answer as Claimed | 'lost')
      case 'startRuns':
        if ((args.at(-1) as { readonly tx?: unknown }).tx !== undefined) return
        return checkStarted(
          args[0] as Parameters<Adapter['startRuns']>[0],
          answer as readonly StartedRun[],
          await shared.dump(),
          this.#broken,
        )
      case 'settle':
        return this.#settled(args[0] as Parameters<Adapter['settle']>[0], answer as Settlement)
      case 'declareLimits':
        return this.#rates.declared(args[0] as Parameters<Adapter['declareLimits']>[0])
      case 'setLimit':
        if (answer !== null) this.#rates.set(args[0] as Parameters<Adapter['setLimit']>[0])
        return
      case 'pushBackLimits':
        return this.#rates.pushedBack(args[0] as Parameters<Adapter['pushBackLimits']>[0], this.#moment())
      case 'changeSchedules':
        return this.#schedules.started(answer as ChangedSchedules<unknown>, await shared.dump())
    }
  }

  /** An operator has changed a run. */
  changed(before: RunDump | undefined, after: RunDump | undefined): void {
    this.#schedules.changed(before, after)
  }

  /** Somebody sets the store's clock back. */
  async setBack(byMs: number): Promise<void> {
    const { shared, storeClock } = this.#parts
    this.#rates.setBack(byMs, (await shared.dump()).limits, this.#moment())
    storeClock.setBack(byMs)
    shared.clockWasSet()
  }

  async checkNow(): Promise<void> {
    const { flow, shared, storeClock } = this.#parts
    if (flow === 'none') return
    const [now, { backMs }] = [storeClock.now(), storeClock]
    checkPlaces(await shared.dump(), { now, backMs }, this.#broken)
  }

  async checkEnd(): Promise<void> {
    const { flow, shared, adapter } = this.#parts
    if (flow === 'schedules') await this.#schedules.checkEnd(adapter, await shared.dump())
  }

  readonly #broken = (violation: string) => this.#parts.violations.add(violation)

  #moment() {
    return { world: this.#parts.now(), store: this.#parts.storeClock.now() }
  }

  #claimed(args: Parameters<Adapter['claim']>, answer: Claimed | 'lost'): void {
    const before = this.#claimable.get(args[0])
    this.#claimable.delete(args[0])
    if (before !== undefined) checkClaim(before, args, answer, this.#broken)
  }

  #settled({ outcomes }: Parameters<Adapter['settle']>[0], { results }: Settlement): void {
    for (const [index, outcome] of outcomes.entries())
      if (results[index] === 'settled') this.#rates.entered(outcome, this.#moment())
  }
}
