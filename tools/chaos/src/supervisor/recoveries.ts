import type pg from 'pg'
import type { LeasedStep } from '../faults/fault.ts'
import { stillLeased } from '../faults/leases.ts'

/** Steps that must settle after a fault before the load counts as running again. */
const PROGRESS_STEPS = 3

interface Awaited {
  readonly fault: string
  readonly since: number
  leases: readonly LeasedStep[]
  /** How many steps the fleet had settled when the fault ended. */
  readonly settled: number
}

export interface RecoveryTimes {
  readonly count: number
  readonly medianMs: number
  readonly worstMs: number
  /** How many did not recover before the end. */
  readonly open: number
}

/** Measures the time from each fault until the load runs again and the affected processes no longer hold their steps. */
export class Recoveries {
  readonly #times = new Map<string, number[]>()
  #awaited: Awaited[] = []

  /** A fault is over. `since`: when the time begins to count. */
  await(
    fault: string,
    { since, settled, leases }: { since: number; settled: number; leases: readonly LeasedStep[] },
  ): void {
    this.#awaited.push({ fault, since, settled, leases })
  }

  /** Called often: checks which faults have been recovered from. */
  async look(database: pg.Pool, settled: number): Promise<void> {
    for (const awaited of [...this.#awaited]) {
      if (awaited.leases.length > 0)
        awaited.leases = await stillLeased(database, awaited.leases).catch(() => awaited.leases)
      if (awaited.leases.length > 0 || settled < awaited.settled + PROGRESS_STEPS) continue
      this.#awaited = this.#awaited.filter((other) => other !== awaited)
      const times = this.#times.get(awaited.fault) ?? []
      this.#times.set(awaited.fault, [...times, performance.now() - awaited.since])
    }
  }

  /** By the fault's name. */
  get times(): Readonly<Record<string, RecoveryTimes>> {
    const names = new Set([...this.#times.keys(), ...this.#awaited.map(({ fault }) => fault)])
    return Object.fromEntries(
      [...names].map((name) => {
        const sorted = [...(this.#times.get(name) ?? [])].sort((one, other) => one - other)
        const open = this.#awaited.filter(({ fault }) => fault === name).length
        const medianMs = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
        return [name, { count: sorted.length, medianMs, worstMs: sorted.at(-1) ?? Number.NaN, open }]
      }),
    )
  }
}
