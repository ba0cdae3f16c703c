import type { Adapter, LimitRecord } from '../../adapter/index.ts'
import { limitName } from '../../definition/limit.ts'
import { BelayError } from '../../errors.ts'
import { didYouMean } from '../../nearest.ts'
import { checkArgument, type Kind, Refusal, readAs, readOptions, wholeNumber } from '../../options/index.ts'
import { shown } from '../../shown.ts'

/** The most slots that each key of a limit may be given. */
const CONCURRENCY_MAX = 100_000
const SLOTS = wholeNumber(0, CONCURRENCY_MAX)

/** What a limit is set to: a number, or an object with it. */
const SETTING: Kind<number> = {
  words: `${SLOTS.words}, or an object with concurrency`,
  read(given) {
    if (typeof given !== 'object' || given === null) return SLOTS.read(given)
    const options = readOptions(given)
    const names = options === undefined ? [] : Object.keys(options)
    if (names.length !== 1 || names[0] !== 'concurrency') return new Refusal(shown(given))
    return readAs(SLOTS, options!['concurrency'])
  },
}

/** A limit, as it is now. */
export interface LimitSnapshot {
  readonly name: string
  /** How many slots each key has: what was set, else what code declares. */
  readonly concurrency: number
  /** What the worker declared that started last. */
  readonly declared: number | undefined
  /** What was set at run time; undefined if nothing was. */
  readonly set: number | undefined
  /** Slots that are taken now, of all keys. */
  readonly inUse: number
  /** Steps that wait for a slot, of all keys. */
  readonly waiting: number
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
   * number gives slots to steps that wait, a lower one lets those that run end.
   *
   * @throws BelayError `invalid_option`, also for a limit that no worker has declared; and the store's errors.
   */
  async set(name: string, concurrency: number | { readonly concurrency: number }): Promise<LimitSnapshot> {
    const slots = checkArgument('limits.set()', 'the concurrency', concurrency, SETTING)
    await this.#known('limits.set()', name)
    return this.#change(name, slots)
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

  async #change(name: string, concurrency: number | null): Promise<LimitSnapshot> {
    const changed = await this.#adapter.setLimit({ name, concurrency })
    // Steps that got a slot are queued.
    this.#onSet()
    return snapshotOf(changed!)
  }

  async #read(names?: readonly string[]): Promise<readonly LimitRecord[]> {
    this.#assertOpen()
    await this.#adapter.open()
    return this.#adapter.readLimits(names)
  }

  async #known(call: string, name: string): Promise<void> {
    checkArgument(call, 'the limit', name, limitName)
    const limits = await this.#read()
    if (limits.some((limit) => limit.name === name && limit.declared !== null)) return
    const names = limits.map((limit) => limit.name)
    throw new BelayError(
      'invalid_option',
      `${call}: no worker has declared a limit ${shown(name)}.${didYouMean(name, names)} A worker declares the limits of its workflows when it starts.`,
    )
  }
}

function snapshotOf({ declared, set, ...limit }: LimitRecord): LimitSnapshot {
  return { ...limit, declared: declared ?? undefined, set: set ?? undefined }
}
