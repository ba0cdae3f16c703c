import type { Fault, LeasedStep } from '../faults/fault.ts'
import { pause } from '../pause.ts'
import type { Timeline } from '../report/timeline.ts'
import type { Recoveries } from './recoveries.ts'
import type { Stage } from './stage.ts'

/** At intensity 1. */
const GAP_MS = 1_300
const AT_ONCE_MAX = 4

/** Makes faults happen at random, one after another and sometimes together, until it is told to end. */
export class FaultLoop {
  /** By the fault's name. */
  readonly counts: Record<string, number> = {}
  /** The times of faults that can cause the loss of a worker, by the machine's clock. */
  readonly troubles: { readonly from: number; readonly to: number }[] = []
  readonly #stage: Stage
  readonly #faults: readonly Fault[]
  readonly #timeline: Timeline
  readonly #recoveries: Recoveries
  readonly #underWay = new Set<Promise<void>>()
  #alone = false

  constructor(
    stage: Stage,
    parts: {
      readonly faults: readonly Fault[]
      readonly timeline: Timeline
      readonly recoveries: Recoveries
    },
  ) {
    this.#stage = stage
    this.#faults = parts.faults
    this.#timeline = parts.timeline
    this.#recoveries = parts.recoveries
  }

  /** Resolves when the time is over and every fault has ended. */
  async run(ms: number, intensity: number): Promise<void> {
    const { random } = this.#stage
    const end = performance.now() + ms
    const atOnce = Math.max(1, Math.round(AT_ONCE_MAX * Math.min(1, intensity)))
    while (performance.now() < end) {
      await pause(Math.min(random.pauseMs(GAP_MS / intensity), Math.max(0, end - performance.now())))
      if (this.#underWay.size >= atOnce || performance.now() >= end) continue
      const fault = random.weighted(this.#faults)
      if (fault.isAlone === true && this.#alone) continue
      this.#begin(fault)
    }
    await Promise.all(this.#underWay)
  }

  #begin(fault: Fault): void {
    const striking = this.#strike(fault).finally(() => this.#underWay.delete(striking))
    this.#underWay.add(striking)
  }

  async #strike(fault: Fault): Promise<void> {
    const { troubles, fleet } = this.#stage
    if (fault.isAlone === true) {
      this.#alone = true
      troubles.add(fault.name)
    }
    this.#timeline.add(`${fault.name} …`)
    const from = Date.now()
    let isMeasured = false
    const measure = (leases: readonly LeasedStep[]) => {
      isMeasured = true
      this.#recoveries.await(fault.name, { since: performance.now(), leases, settled: fleet.settled })
    }
    try {
      const { what, leases = [] } = await fault.strike(this.#stage, measure)
      if (what === undefined) return
      this.counts[fault.name] = (this.counts[fault.name] ?? 0) + 1
      this.#timeline.add(`${fault.name}: ${what}`)
      if (!isMeasured) measure(leases)
    } catch (error) {
      // Another fault broke the supervisor's own statement.
      this.#timeline.add(`${fault.name} came to nothing: ${error instanceof Error ? error.message : error}`)
    } finally {
      if (fault.class !== 'prune' && fault.class !== 'deploy') this.troubles.push({ from, to: Date.now() })
      if (fault.isAlone === true) {
        this.#alone = false
        troubles.delete(fault.name)
      }
    }
  }
}
