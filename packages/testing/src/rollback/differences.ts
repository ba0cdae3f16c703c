/** JSON-like. Differences are looked for in copies, because a test's world changes in place. */
type Plain =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Plain[]
  | { readonly [key: string]: Plain }

/** A copy of a value: maps as objects, sets as arrays, instants as text. */
export function plainCopy(value: unknown): Plain {
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, one]) => [String(key), plainCopy(one)]))
  if (value instanceof Set) return [...value].map(plainCopy)
  if (Array.isArray(value)) return value.map(plainCopy)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plainCopy(one)]))
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : (value as Plain)
}

/** Where two copies differ, like `charges[0]: nothing → "c-1"`. */
export function differences(before: Plain, after: Plain, path = ''): readonly string[] {
  if (Object.is(before, after)) return []
  const [one, other] = [entriesOf(before), entriesOf(after)]
  if (one === undefined || other === undefined || Array.isArray(before) !== Array.isArray(after))
    return [`${path === '' ? 'the whole' : path}: ${shownPlain(before)} → ${shownPlain(after)}`]
  const keys = [...new Set([...one.keys(), ...other.keys()])]
  return keys.flatMap((key) =>
    differences(one.get(key), other.get(key), pathTo(path, key, Array.isArray(before))),
  )
}

function entriesOf(value: Plain): ReadonlyMap<string, Plain> | undefined {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined
}

function pathTo(path: string, key: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}

function shownPlain(value: Plain): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}
