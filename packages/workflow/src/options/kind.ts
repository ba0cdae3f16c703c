import { DURATION_MAX, type Duration, durationMs } from '../duration.ts'
import { type Instant, instantMs } from '../instant.ts'
import { didYouMean } from '../nearest.ts'
import { shown } from '../shown.ts'
import { isStorableText, storableText } from '../storable-text.ts'

/** What a value must be, and how Belay reads it. */
export interface Kind<Value> {
  /** Follows "must be" in a message: `a whole number from 1 to 50`. */
  readonly words: string
  /** Returns the value as Belay uses it, or a refusal. Accepts any value; may throw when reading the value throws. */
  readonly read: (given: unknown) => Value | Refusal
}

const refusals = new WeakSet<object>()

/** A value that is not of a kind. */
export class Refusal {
  /** What was given instead, for a message. */
  readonly got: string
  /** Ends the message: ` Did you mean "retry"?`. */
  readonly hint: string

  constructor(got: string, hint = '') {
    this.got = got
    this.hint = hint
    refusals.add(this)
  }

  /** Reads no property: the value may be a caller's Proxy, whose traps `instanceof` would call. */
  static is(read: unknown): read is Refusal {
    return typeof read === 'object' && read !== null && refusals.has(read)
  }
}

/** Reads a value. One that throws when it is read is refused. */
export function readAs<Value>(kind: Kind<Value>, given: unknown): Value | Refusal {
  try {
    return kind.read(given)
  } catch {
    return new Refusal(shown(given))
  }
}

export const anything: Kind<unknown> = { words: 'any value', read: (given) => given }

export const yesOrNo: Kind<boolean> = {
  words: 'true or false',
  read: (given) => (typeof given === 'boolean' ? given : new Refusal(shown(given))),
}

export function wholeNumber(least: number, most: number): Kind<number> {
  return {
    words: `a whole number from ${least} to ${most}`,
    read: (given) =>
      typeof given === 'number' && Number.isInteger(given) && given >= least && given <= most
        ? given
        : new Refusal(shown(given)),
  }
}

/** Read as milliseconds. With `more`, the value must be greater than `least`. */
export const share: Kind<number> = {
  words: 'a number from 0 to 1',
  read: (given) =>
    typeof given === 'number' && given >= 0 && given <= 1 ? given : new Refusal(shown(given)),
}

export function duration(
  least: Duration = 0,
  most: Duration = DURATION_MAX,
  { more = false }: { readonly more?: boolean } = {},
): Kind<number> {
  const [leastMs, mostMs] = [durationMs(least, 'least'), durationMs(most, 'most')]
  const range = more ? `greater than ${least} and at most ${most}` : `from ${least} to ${most}`
  return {
    words: `a duration ${range}, like '30s' or 30000`,
    read(given) {
      const ms = durationMs(given as Duration, 'duration')
      return ms > mostMs || ms < leastMs || (more && ms === leastMs) ? new Refusal(shown(given)) : ms
    },
  }
}

/** Read as epoch milliseconds. */
export const instant: Kind<number> = {
  words: `an instant from year 1 to 9999: a Date, or a string with an offset like '2026-03-01T09:00:00Z'`,
  read: (given) => instantMs(given as Instant, 'instant'),
}

/** A string that every store can hold: PostgreSQL's text cannot hold NUL, and UTF-8 cannot encode an unpaired surrogate. */
export function string(least: number, most: number): Kind<string> {
  return {
    words: `a string of ${least === 0 ? 'up to' : `${least} to`} ${most} characters without NUL or unpaired surrogates`,
    read(given) {
      if (typeof given !== 'string') return new Refusal(shown(given))
      if (given.length < least || given.length > most) return new Refusal(`${given.length} characters`)
      if (given.includes('\0')) return new Refusal('a string with NUL in it')
      return isStorableText(given) ? given : new Refusal('a string with an unpaired surrogate')
    },
  }
}

/**
 * A string for people to read. Characters that a store cannot hold are replaced, not refused: they are invisible, so users could hardly find them.
 */
export function note(most: number): Kind<string> {
  return {
    words: `a string of up to ${most} characters`,
    read(given) {
      if (typeof given !== 'string') return new Refusal(shown(given))
      return given.length > most ? new Refusal(`${given.length} characters`) : storableText(given)
    },
  }
}

/** The most characters in the name of a workflow or step. */
const NAME_LENGTH_MAX = 128
/** The most characters of an item's key: it is part of the idempotency key, and names the item for operators. */
export const ITEM_KEY_LENGTH_MAX = 256
/** The most characters in a key. */
const KEY_LENGTH_MAX = 512

/** A string that may name a step or a workflow. */
export const name: Kind<string> = string(1, NAME_LENGTH_MAX)

/** A string that may name a row of a run: a step, or an item, which has its key in brackets. */
export const rowName: Kind<string> = string(1, NAME_LENGTH_MAX + ITEM_KEY_LENGTH_MAX + '[]'.length)

/** A key that names a run or a signal. */
export const key: Kind<string> = string(1, KEY_LENGTH_MAX)

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The id of a run or a worker. */
export function id(of: 'run' | 'worker'): Kind<string> {
  return {
    words: `the id of a ${of}, like '01890a5d-ac96-774b-bcce-b302099a8057'`,
    read: (given) => (typeof given === 'string' && UUID.test(given) ? given : new Refusal(shown(given))),
  }
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Kind<Choice> {
  return {
    words:
      choices.length === 1
        ? `'${choices[0]}'`
        : `one of ${choices.map((choice) => `'${choice}'`).join(', ')}`,
    read(given) {
      const found = choices.find((choice) => choice === given)
      if (found !== undefined) return found
      return new Refusal(shown(given), typeof given === 'string' ? didYouMean(given, choices) : '')
    },
  }
}

/** An array of `least` to `most` different values. */
export function listOf<Value extends string>(
  each: Kind<Value>,
  { least, most }: { readonly least: number; readonly most: number },
): Kind<readonly Value[]> {
  const range = least === 0 ? `up to ${most}` : `${least} to ${most}`
  return {
    words: `an array of ${range} different values, each ${each.words}`,
    read(given) {
      if (!Array.isArray(given)) return new Refusal(shown(given))
      if (given.length < least) return new Refusal(shown(given))
      if (given.length > most) return new Refusal(`${given.length} of them`)
      // Array.from turns a hole in the array into undefined, which is then refused.
      const read = Array.from(given, (one) => readAs(each, one))
      const at = read.findIndex((one) => Refusal.is(one))
      if (at !== -1) return new Refusal(`${(read[at] as Refusal).got} at index ${at}`)
      const double = read.find((one, index) => read.indexOf(one) !== index)
      return double === undefined ? (read as Value[]) : new Refusal(`${shown(double)} twice`)
    },
  }
}

/** A single value, or an array of 1 to `most` different values. Read as an array. */
export function oneOrList<Value extends string>(each: Kind<Value>, most: number): Kind<readonly Value[]> {
  const list = listOf(each, { least: 1, most })
  return {
    words: `${each.words}, or ${list.words}`,
    read(given) {
      if (Array.isArray(given)) return list.read(given)
      const read = each.read(given)
      return Refusal.is(read) ? read : [read]
    },
  }
}

/** A non-empty array of choices. Duplicates are removed. */
export function someOf<const Choice extends string>(choices: readonly Choice[]): Kind<readonly Choice[]> {
  const each = oneOf(choices)
  return {
    words: `one or more of ${choices.map((choice) => `'${choice}'`).join(', ')}, in an array`,
    read(given) {
      if (!Array.isArray(given) || given.length === 0) return new Refusal(shown(given))
      // Array.from turns a hole in the array into undefined, which is then refused.
      const read = Array.from(given, each.read)
      return read.find((one) => Refusal.is(one)) ?? [...new Set(read as Choice[])]
    },
  }
}

/** A single choice, or a non-empty array of choices. Read as an array without duplicates. */
export function oneOrSomeOf<const Choice extends string>(
  choices: readonly Choice[],
): Kind<readonly Choice[]> {
  const [one, some] = [oneOf(choices), someOf(choices)]
  return {
    words: `${one.words}, or an array with one or more of them`,
    read(given) {
      if (Array.isArray(given)) return some.read(given)
      const read = one.read(given)
      return Refusal.is(read) ? read : [read]
    },
  }
}

/** `false`, or a value of another kind. */
export function falseOr<Value>(kind: Kind<Value>): Kind<Value | false> {
  return {
    words: `false or ${kind.words}`,
    read: (given) => (given === false ? false : kind.read(given)),
  }
}

/** A function. Its parameters and result cannot be checked. */
export function callback<Callback>(): Kind<Callback> {
  return {
    words: 'a function',
    read: (given) => (typeof given === 'function' ? (given as Callback) : new Refusal(shown(given))),
  }
}

/** An object with these methods. */
export function having<Value extends object>(
  words: string,
  methods: readonly (keyof Value & string)[],
): Kind<Value> {
  return {
    words,
    read(given) {
      if ((typeof given !== 'object' && typeof given !== 'function') || given === null) {
        return new Refusal(shown(given))
      }
      const lacking = methods.find((method) => typeof Reflect.get(given, method) !== 'function')
      return lacking === undefined ? (given as Value) : new Refusal(`${shown(given)} without ${lacking}()`)
    },
  }
}

export const abortSignal: Kind<AbortSignal> = {
  words: 'an AbortSignal',
  read: (given) =>
    typeof (given as AbortSignal).aborted === 'boolean' ? (given as AbortSignal) : new Refusal(shown(given)),
}
