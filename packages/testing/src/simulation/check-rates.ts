import type { RateSnapshot } from '@belay/workflow'
import {
  type Adapter,
  type DeclaredLimit,
  type Outcome,
  RATE_HORIZON_MS,
  rateToleranceMs,
} from '@belay/workflow/adapter'
import type { Dump } from '../invariants/index.ts'

/** Times nearer than this are the same, in milliseconds. */
const SAME_MS = 0.01

/** When attempts of one key entered, in the world's time, since its rate was last changed. */
interface Line {
  readonly enteredAt: number[]
  /** Nobody enters before this instant, store clock. */
  closedUntil: number
}

/** Instants that were given before the clock went back come a second time: beside new ones. */
interface SetBack {
  readonly at: number
  /** In the world's time: until the store's clock has come to where it was, and to the last instant that was given. */
  readonly until: number
  /** How many steps had instants then, by line. */
  readonly given: ReadonlyMap<string, number>
}

/** What happened, when: in the world's time, which never goes back, and on the store's clock. */
export interface Moment {
  readonly world: number
  readonly store: number
}

/**
 * Follows how many attempts enter each key of each rate. What is exact: in each window of `per`, no more than `burst` and what begins evenly in `per` and
 * the tolerance, as the instants of those that come late are from before the window. A change of the rate begins a new count. Nobody enters while a key
 * is pushed back.
 */
export class Rates {
  readonly #broken: (violation: string) => void
  readonly #declared = new Map<string, RateSnapshot>()
  readonly #set = new Map<string, RateSnapshot>()
  /** What holds: what was set, else what was declared. */
  readonly #rates = new Map<string, RateSnapshot>()
  readonly #lines = new Map<string, Line>()
  /** Attempts that have entered: asking again takes nothing twice. */
  readonly #entered = new Set<string>()
  readonly #setBacks: SetBack[] = []

  constructor(broken: (violation: string) => void) {
    this.#broken = broken
  }

  declared(limits: readonly DeclaredLimit[]): void {
    for (const { name, concurrency, rate } of limits) {
      if (rate != null) this.#declared.set(name, { limit: concurrency, ...rate })
      this.#changed(name)
    }
  }

  set({ name, concurrency, rate }: Parameters<Adapter['setLimit']>[0]): void {
    if (concurrency === null || rate == null) this.#set.delete(name)
    else this.#set.set(name, { limit: concurrency, ...rate })
    this.#changed(name)
  }

  #changed(limit: string): void {
    const rate = this.#set.get(limit) ?? this.#declared.get(limit)
    if (rate === undefined || JSON.stringify(this.#rates.get(limit)) === JSON.stringify(rate)) return
    this.#rates.set(limit, rate)
    for (const [name, line] of this.#lines) if (name.startsWith(`${limit} of `)) line.enteredAt.length = 0
  }

  pushedBack({ lines, afterMs }: Parameters<Adapter['pushBackLimits']>[0], now: Moment): void {
    for (const { limit, key } of lines) {
      const line = this.#lineOf(nameOf(limit, key))
      line.closedUntil = Math.max(line.closedUntil, now.store + afterMs)
    }
  }

  setBack(byMs: number, limits: Dump['limits'], now: Moment): void {
    const given = new Map<string, number>()
    for (const { limit, key, isGiven } of limits?.slots ?? []) {
      if (isGiven) given.set(nameOf(limit, key), (given.get(nameOf(limit, key)) ?? 0) + 1)
    }
    // What is over may have been forgotten.
    for (const line of this.#lines.values()) if (line.closedUntil <= now.store) line.closedUntil = 0
    this.#setBacks.push({ at: now.world, until: now.world + byMs + RATE_HORIZON_MS, given })
  }

  entered(outcome: Outcome, now: Moment): void {
    if (outcome.type !== 'enters') return
    for (const { limit, key, of } of outcome.entries) {
      const who = of === 'run' ? outcome.runId : `${outcome.runId}/${outcome.step}/${outcome.fence}`
      const name = nameOf(limit, key)
      if (this.#entered.has(`${name}: ${who}`)) continue
      this.#entered.add(`${name}: ${who}`)
      this.#enter(name, limit, now)
    }
  }

  #enter(name: string, limit: string, now: Moment): void {
    const line = this.#lineOf(name)
    if (now.store < line.closedUntil - SAME_MS)
      this.#broken(
        `somebody entered ${name} at ${now.store}, although it was pushed back until ${line.closedUntil}`,
      )
    const rate = this.#rates.get(limit)
    if (rate === undefined) return
    line.enteredAt.push(now.world)
    const from = now.world - rate.perMs
    const count = line.enteredAt.filter((at) => at >= from).length
    const most = mostIn(rate) + this.#again(name, from, now.world, rate)
    if (count > most)
      this.#broken(
        `${count} entered ${name} within ${rate.perMs} ms until ${now.world}, and at most ${most} may`,
      )
  }

  /** How many may come to an instant in this window that the clock shows for the second time. */
  #again(name: string, from: number, to: number, { perMs }: RateSnapshot): number {
    const tolerance = rateToleranceMs(perMs)
    return this.#setBacks
      .filter(({ at, until }) => at <= to && until + tolerance >= from)
      .reduce((sum, { given }) => sum + (given.get(name) ?? 0), 0)
  }

  #lineOf(name: string): Line {
    const known = this.#lines.get(name)
    if (known !== undefined) return known
    const line = { enteredAt: [], closedUntil: 0 }
    this.#lines.set(name, line)
    return line
  }
}

/** How many may enter in a window of `per`. */
function mostIn({ limit, perMs, burst }: RateSnapshot): number {
  if (limit === 0) return 0
  return burst + Math.floor((perMs + rateToleranceMs(perMs) + SAME_MS) / (perMs / limit))
}

function nameOf(limit: string, key: string): string {
  return `${limit} of ${key}`
}
