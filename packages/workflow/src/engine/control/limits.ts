import type { Adapter, LimitNumbers, LimitRecord, RateSpan } from '../../adapter/index.ts'
import { limitName, ratePeriod, usualBurst } from '../../definition/limit.ts'
import type { Duration } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import { didYouMean } from '../../nearest.ts'
import { checkArgument, type Kind, Refusal, readAs, readOptions, wholeNumber } from '../../options/index.ts'
import { shown } from '../../shown.ts'

/** The most slots that each key of a limit may be given. */
const CONCURRENCY_MAX = 100_000
const SLOTS = wholeNumber(0, CONCURRENCY_MAX)

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

/** The numbers of a limit, as they are now. */
export interface LimitValues {
  readonly name: string
  /** How many slots each key has: what was set, else what code declares. Undefined for a rate. */
  readonly concurrency: number | undefined
  /** How many begin in a time: what was set, else what code declares. Undefined for a limit of how many are under way. */
  readonly rateLimit: RateSnapshot | undefined
  /** What the worker declared that started last. */
  readonly declared: number | RateSnapshot | undefined
  /** What was set at run time; undefined if nothing was. */
  readonly set: number | RateSnapshot | undefined
}

/** A limit, as it is now. */
export interface LimitSnapshot extends LimitValues {
  /** Slots that are taken now, of all keys; of a rate, attempts that have begun, or have their instants, and have not ended. */
  readonly inUse: number
  /** Steps that wait for a slot or an instant, of all keys. */
  readonly waiting: number
  /** Nobody enters with some of its keys before then, because a handler threw `RetryLaterError` with `limit`. */
  readonly pushedBackUntil: Date | undefined
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
  async set(name: string, setting: LimitSetting): Promise<LimitValues> {
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
  async reset(name: string): Promise<LimitValues> {
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

  async #change(
    name: string,
    concurrency: number | null,
    rate: RateSpan | null = null,
  ): Promise<LimitValues> {
    const changed = await this.#adapter.setLimit({ name, concurrency, rate })
    this.#onSet()
    return valuesOf(changed!)
  }

  async #read(names?: readonly string[], uncounted = false): Promise<readonly LimitRecord[]> {
    this.#assertOpen()
    await this.#adapter.open()
    return this.#adapter.readLimits(names, { uncounted })
  }

  async #known(call: string, name: string): Promise<LimitRecord> {
    checkArgument(call, 'the limit', name, limitName)
    const [known] = await this.#read([name], true)
    if (known !== undefined && known.declared !== null) return known
    const names = (await this.#read(undefined, true)).map((limit) => limit.name)
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
  const { inUse, waiting, pushedBackUntil } = limit
  const until = pushedBackUntil === null ? undefined : new Date(pushedBackUntil)
  return { ...valuesOf(limit), inUse, waiting, pushedBackUntil: until }
}

function valuesOf(limit: LimitNumbers): LimitValues {
  const { name, concurrency, rate } = limit
  return {
    name,
    concurrency: rate === null ? concurrency : undefined,
    rateLimit: rate === null ? undefined : { limit: concurrency, ...rate },
    declared: numbersOf(limit.declared, limit.declaredRate),
    set: numbersOf(limit.set, limit.setRate),
  }
}

function numbersOf(limit: number | null, rate: RateSpan | null): number | RateSnapshot | undefined {
  if (limit === null) return undefined
  return rate === null ? limit : { limit, ...rate }
}
