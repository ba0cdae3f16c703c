import { BelayError, shown } from '@belay/workflow/adapter'

/** JSON-like, and numbers that JSON has not. Differences are looked for in copies, because a test's world changes in place. */
export type Plain =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly Plain[]
  | { readonly [key: string]: Plain }

/**
 * A copy of a value: maps as objects, sets as sorted arrays, instants as text, instances with public fields as objects, and what has `toJSON()` as that
 * says.
 *
 * @throws BelayError `invalid_option` for what cannot be compared: its state is hidden, or it contains itself.
 */
export function plainCopy(value: unknown): Plain {
  return copy(value, '', [])
}

type Path = string

function copy(value: unknown, path: Path, around: readonly object[]): Plain {
  if (typeof value === 'function') throw incomparable(path, 'a function, which may hide state')
  if (typeof value === 'symbol') throw incomparable(path, 'a symbol')
  if (typeof value !== 'object' || value === null) return value as Plain
  if (around.includes(value)) throw incomparable(path, 'an object that contains itself')
  const within = [...around, value]
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof RegExp) return String(value)
  if (ArrayBuffer.isView(value)) return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)]
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON === 'function') return copy(toJSON.call(value, ''), path, within)
  const hidden = hiddenStateOf(value)
  if (hidden !== undefined) throw incomparable(path, hidden)
  if (value instanceof Map) return copyOfMap(value, path, within)
  if (value instanceof Set) return [...value].map((one) => copy(one, `${path}[]`, within)).sort(byText)
  if (Array.isArray(value)) return value.map((one, index) => copy(one, `${path}[${index}]`, within))
  return copyOfFields(value, path, within)
}

function copyOfFields(value: object, path: Path, within: readonly object[]): Plain {
  // An error's message is no field that is listed.
  const named = value instanceof Error ? { name: value.name, message: value.message } : {}
  const fields = Object.entries({ ...named, ...value })
  return Object.fromEntries(fields.map(([key, one]) => [key, copy(one, pathTo(path, key), within)]))
}

/** Keys that look alike as texts, like 1 and '1', and keys that are objects stay apart in a list of entries. */
function copyOfMap(map: ReadonlyMap<unknown, unknown>, path: Path, within: readonly object[]): Plain {
  const keys = [...map.keys()]
  const isSimple = keys.every((key) => typeof key !== 'object' && typeof key !== 'symbol')
  if (isSimple && new Set(keys.map(String)).size === keys.length) {
    const copies = [...map].map(([key, one]) => [String(key), copy(one, pathTo(path, String(key)), within)])
    return Object.fromEntries(copies)
  }
  return [...map]
    .map(([key, one]) => ({ key: copy(key, `${path}[]`, within), value: copy(one, `${path}[]`, within) }))
    .sort(byText)
}

/** Classes whose instances are read by what they list. */
const OPEN: ReadonlySet<unknown> = new Set([Object, Array, Map, Set, Error])
/** A private name in the text of a class. One in a comment or a string is taken for one too: better refused than overlooked. */
const PRIVATE_NAME = /#[\p{ID_Start}$_]/u

/** Why an object cannot be compared by its fields. Undefined if it can. */
function hiddenStateOf(value: object): string | undefined {
  for (let type = Object.getPrototypeOf(value); type !== null; type = Object.getPrototypeOf(type)) {
    const { constructor: made } = type as { readonly constructor?: unknown }
    if (typeof made !== 'function' || OPEN.has(made) || value instanceof Error) continue
    const text = Function.prototype.toString.call(made)
    if (text.includes('[native code]')) return `a ${made.name}, whose state cannot be read`
    if (PRIVATE_NAME.test(text))
      return `an instance of class ${made.name}, which has private fields: they cannot be compared`
  }
  return undefined
}

function incomparable(path: Path, what: string): BelayError {
  const where = path === '' ? 'effects() returned' : `effects() returned, at ${path},`
  return new BelayError(
    'invalid_option',
    `checkRollback(): ${where} ${what}. Let effects() return plain data that tells the state: objects, arrays, maps, sets, dates. A class may also say it with toJSON().`,
  )
}

export function pathTo(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function byText(one: Plain, other: Plain): number {
  const [left, right] = [shownPlain(one), shownPlain(other)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** As a report shows it. JSON has no big integers, and neither NaN nor infinities. */
export function shownPlain(value: Plain): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'bigint' || (typeof one === 'number' && !Number.isFinite(one)) ? shown(one) : one,
  )
}
