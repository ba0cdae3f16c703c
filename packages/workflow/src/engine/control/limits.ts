import type { Adapter, LimitRecord, RateSpan } from '../../adapter/index.ts'
import { limitName, ratePeriod, usualBurst } from '../../definition/limit.ts'
import type { Duration } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import { didYouMean } from '../../nearest.ts'
import {
  checkArgument,
  checkFilter,
  type Kind,
  type OptionTable,
  Refusal,
  readAs,
  readOptions,
  wholeNumber,
} from '../../options/index.ts'
import { shown } from '../../shown.ts'

/** The most slots that each key of a limit may be given. */
const CONCURRENCY_MAX = 100_000
const SLOTS = wholeNumber(0, CONCURRENCY_MAX)

const LINES = {
  limit: { sets: 'how many keys are read at most', takes: wholeNumber(1, 1_000), default: 100 },
} satisfies OptionTable

const BURST = wholeNumber(1, CONCURRENCY_MAX)

/** What a limit is set to. */
interface Setting {
  readonly concurrency: number
  readonly rate: { readonly perMs: number; readonly burst: number | undefined } | null
}

/** What a limit is set to: a number, or an object with it. */
const SETTING: Kind<Setting> = {
  words: `${SLOTS.words}, or an object with concurrency, or with rateLimit`,
  read(given) {
    if (typeof given !== 'object' || given === null) return slotsIn(given)
    const options = readOptions(given)
    const names = options === undefined ? [] : Object.keys(options)
    if (names.length === 1 && names[0] === 'concurrency') return slotsIn(options!['concurrency'])
    if (names.length === 1 && names[0] === 'rateLimit') return rateIn(options!['rateLimit'])
    return new Refusal(shown(given))
  },
}

function slotsIn(given: unknown): Setting | Refusal {
  const concurrency = readAs(SLOTS, given)
  return Refusal.is(concurrency) ? concurrency : { concurrency, rate: null }
}

function rateIn(given: unknown): Setting | Refusal {
  const options = readOptions(given)
  const known = ['limit', 'per', 'burst']
  if (options === undefined || Object.keys(options).some((name) => !known.includes(name))) {
    return new Refusal(`${shown(given)} as rateLimit`, ' It has limit, per, burst.')
  }
  const limit = readAs(SLOTS, options['limit'])
  if (Refusal.is(limit)) return memberRefused('limit', limit, SLOTS)
  const perMs = readAs(ratePeriod, options['per'])
  if (Refusal.is(perMs)) return memberRefused('per', perMs, ratePeriod)
  const burst = options['burst'] === undefined ? undefined : readAs(BURST, options['burst'])
  if (Refusal.is(burst)) return memberRefused('burst', burst, BURST)
  return { concurrency: limit, rate: { perMs, burst } }
}

function memberRefused(member: string, { got }: Refusal, { words }: Kind<unknown>): Refusal {
  return new Refusal(`${got} as rateLimit.${member}`, ` rateLimit.${member} must be ${words}.`)
}

/** A rate, as it is now. */
export interface RateSnapshot {
  /** How many begin in each `perMs`, for each key. */
  readonly limit: number
  readonly perMs: number
  /** How many may begin at once after a quiet time. */
  readonly burst: number
}

/** A limit, as it is now. */
export interface LimitSnapshot {
  readonly name: string
  /** How many slots each key has: what was set, else what code declares. Undefined for a rate. */
  readonly concurrency: number | undefined
  /** How many begin in a time: what was set, else what code declares. Undefined for a limit of how many are under way. */
  readonly rateLimit: RateSnapshot | undefined
  /** What the worker declared that started last. */
  readonly declared: number | RateSnapshot | undefined
  /** What was set at run time; undefined if nothing was. */
  readonly set: number | RateSnapshot | undefined
  /** Slots that are taken now, of all keys; of a rate, attempts that have begun, or have their instants, and have not ended. */
  readonly inUse: number
  /** Steps that wait for a slot or an instant, of all keys. */
  readonly waiting: number
  /** Nobody enters with some of its keys before then, because a handler threw `RetryLaterError` with `limit`. */
  readonly pushedBackUntil: Date | undefined
}

/** One key of a limit, as it is now. */
export interface LimitLineSnapshot {
  /** Empty for a limit without keys. */
  readonly key: string
  /** Slots that are taken now; of a rate, attempts that have begun, or have their instants, and have not ended. */
  readonly inUse: number
  /** Steps that wait for a slot or an instant. */
  readonly waiting: number
  /** The run whose step waits first, and since when. Undefined if none waits. */
  readonly first: { readonly runId: string; readonly since: Date } | undefined
}

/** What a limit is set to. */
export type LimitSetting =
  | number
  | { readonly concurrency: number }
  | {
      readonly rateLimit: {
        readonly limit: number
        readonly per: Duration
        readonly burst?: number | undefined
      }
    }

/** The limits that workers have declared: `engine.limits`. What is set here goes before what code declares, and stays until it is reset. */
export class Limits {
  readonly #adapter: Adapter
  readonly #assertOpen: () => void
  readonly #onSet: () => void

  /** @internal */
  constructor(adapter: Adapter, assertOpen: () => void, onSet: () => void) {
    this.#adapter = adapter
    this.#assertOpen = assertOpen
    this.#onSet = onSet
  }

  /**
   * Sets how many slots each key of a limit has: a whole number from 0, which lets nobody in, to 100,000. It takes effect at once, on all workers: a higher
   * number gives slots to steps that wait, a lower one lets those that run end. A rate is set with `{ rateLimit: { limit, per, burst } }`, in which
   * a `limit` of 0 pauses it: nothing begins. A `burst` that is left out stays what somebody chose; if nobody did, it is the usual one of the new rate.
   * After a change each key begins with an empty burst.
   *
   * @throws BelayError `invalid_option`, also for a limit that no worker has declared, or of which it declared the other kind; and the store's errors.
   */
  async set(name: string, setting: LimitSetting): Promise<LimitSnapshot> {
    const { concurrency, rate } = checkArgument('limits.set()', 'the setting', setting, SETTING)
    const known = await this.#known('limits.set()', name)
    if ((known.rate === null) !== (rate === null)) {
      throw new BelayError(
        'invalid_option',
        `limits.set(): limit ${shown(name)} is ${known.rate === null ? 'a concurrency limit, which is set with { concurrency }' : 'a rate, which is set with { rateLimit: { limit, per } }'}.`,
      )
    }
    return this.#change(
      name,
      concurrency,
      rate === null ? null : { ...rate, burst: rate.burst ?? keptBurst(known, concurrency, rate.perMs) },
    )
  }

  /** Goes back to what code declares. Throws `invalid_option` for a limit that no worker has declared, and the store's errors. */
  async reset(name: string): Promise<LimitSnapshot> {
    await this.#known('limits.reset()', name)
    return this.#change(name, null)
  }

  /** A limit with its use; undefined if no worker has declared it. Throws `invalid_option` and the store's errors. */
  async get(name: string): Promise<LimitSnapshot | undefined> {
    checkArgument('limits.get()', 'the limit', name, limitName)
    const [found] = await this.#read([name])
    return found === undefined ? undefined : snapshotOf(found)
  }

  /** All limits with their use, by name. */
  async list(): Promise<readonly LimitSnapshot[]> {
    return (await this.#read()).map(snapshotOf)
  }

  /**
   * The keys of a limit of which slots are taken or for which steps wait, the longest lines first. Its cost grows with the steps that wait for the limit.
   * Empty if no worker has declared it. `limit`: 1 to 1,000 keys, default 100. Throws `invalid_option` and the store's errors.
   */
  async lines(
    name: string,
    options: { readonly limit?: number | undefined } = {},
  ): Promise<readonly LimitLineSnapshot[]> {
    checkArgument('limits.lines()', 'the limit', name, limitName)
    const { limit: max } = checkFilter('limits.lines()', options, LINES)
    this.#assertOpen()
    await this.#adapter.open()
    const lines = await this.#adapter.readLimitLines({ limit: name, max })
    return lines.map(({ first, ...line }) => ({
      ...line,
      first: first === null ? undefined : { runId: first.runId, since: new Date(first.since) },
    }))
  }

  async #change(
    name: string,
    concurrency: number | null,
    rate: RateSpan | null = null,
  ): Promise<LimitSnapshot> {
    const changed = await this.#adapter.setLimit({ name, concurrency, rate })
    // Steps that got a slot are queued.
    this.#onSet()
    return snapshotOf(changed!)
  }

  async #read(names?: readonly string[]): Promise<readonly LimitRecord[]> {
    this.#assertOpen()
    await this.#adapter.open()
    return this.#adapter.readLimits(names)
  }

  async #known(call: string, name: string): Promise<LimitRecord> {
    checkArgument(call, 'the limit', name, limitName)
    const limits = await this.#read()
    const known = limits.find((limit) => limit.name === name && limit.declared !== null)
    if (known !== undefined) return known
    const names = limits.map((limit) => limit.name)
    throw new BelayError(
      'invalid_option',
      `${call}: no worker has declared a limit ${shown(name)}.${didYouMean(name, names)} Check the name: a worker declares the limits of its workflows when it starts.`,
    )
  }
}

/** A burst that somebody chose stays, whatever the rate is set to. One that nobody chose is the usual one of the new rate. */
function keptBurst({ concurrency, rate }: LimitRecord, limit: number, perMs: number): number {
  const isUsual = rate!.burst === usualBurst(concurrency, rate!.perMs)
  return isUsual ? usualBurst(limit, perMs) : rate!.burst
}

function snapshotOf(limit: LimitRecord): LimitSnapshot {
  const { name, concurrency, rate, inUse, waiting, pushedBackUntil } = limit
  return {
    name,
    concurrency: rate === null ? concurrency : undefined,
    rateLimit: rate === null ? undefined : { limit: concurrency, ...rate },
    declared: numbersOf(limit.declared, limit.declaredRate),
    set: numbersOf(limit.set, limit.setRate),
    inUse,
    waiting,
    pushedBackUntil: pushedBackUntil === null ? undefined : new Date(pushedBackUntil),
  }
}

function numbersOf(limit: number | null, rate: RateSpan | null): number | RateSnapshot | undefined {
  if (limit === null) return undefined
  return rate === null ? limit : { limit, ...rate }
}
