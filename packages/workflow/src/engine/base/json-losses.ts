/** What JSON makes of a part of a value: `lost` is nothing, or an empty object; `changed` is another value. */
export interface JsonLoss {
  readonly fate: 'lost' | 'changed'
  /** What the part is, for a message: `a function`. */
  readonly what: string
  /** Where it is, like `$.items[3].price`; `$` is the value itself. */
  readonly path: string
  /** What JSON stores for it. */
  readonly becomes: string
}

const KEPT = 0
const CHANGED = 1
const LOST = 2

/**
 * Tells in few nanoseconds for each member whether JSON keeps a value: whether `jsonLossIn()` may find something. A property that is undefined is
 * left out by convention, and a `toJSON()` decides itself what is stored: neither is a loss. Never throws.
 */
export function jsonFateOf(value: unknown): 'kept' | JsonLoss['fate'] {
  try {
    const fate = fateOf(value)
    return fate === KEPT ? 'kept' : fate === CHANGED ? 'changed' : 'lost'
  } catch {
    // A getter or a trap threw, or the value nests deeper than the stack.
    return 'lost'
  }
}

/** Recursive and without paths, because it looks at every payload. */
function fateOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return KEPT
    case 'number':
      // Finite, and not -0.
      return value - value === 0 && (value !== 0 || 1 / value > 0) ? KEPT : CHANGED
    case 'object':
      return value === null ? KEPT : Array.isArray(value) ? fateOfList(value) : fateOfObject(value)
    default:
      return LOST
  }
}

function fateOfList(list: readonly unknown[]): number {
  let worst = KEPT
  const { length } = list
  // By index: an iterator takes several times as long once lists of different kinds were seen.
  for (let index = 0; index < length; index++) {
    const element = list[index]
    // Most elements are texts or numbers: this saves a call.
    if (typeof element === 'string' || isPlainNumber(element)) continue
    const fate = element === undefined ? CHANGED : fateOf(element)
    if (fate === LOST) return LOST
    if (fate === CHANGED) worst = CHANGED
  }
  return worst
}

function fateOfObject(value: object): number {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    if (typeof (value as { readonly toJSON?: unknown }).toJSON === 'function') return KEPT
    if (isEmptied(value)) return LOST
  }
  let worst = KEPT
  for (const key in value) {
    const member = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof member === 'string' || isPlainNumber(member)) continue
    const fate = fateOf(member)
    if (fate === LOST) return LOST
    if (fate === CHANGED) worst = CHANGED
  }
  return worst
}

/** Finite, and neither 0 nor -0: so simple that the compiler inlines it. */
function isPlainNumber(value: unknown): boolean {
  return typeof value === 'number' && value - value === 0 && value !== 0
}

/** Of these JSON sees nothing, or nothing that matters: neither an array nor plain data. */
function isEmptied(value: object): boolean {
  if (value instanceof Error || value instanceof Map || value instanceof Set) return true
  if (value instanceof String || value instanceof Number || value instanceof Boolean) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return false
  return Object.keys(value).length === 0
}

interface Place {
  readonly value: unknown
  readonly key: string
  readonly within: Place | undefined
}

/** Proxies may give ever new objects. */
const PLACES_MAX = 500_000

/**
 * Finds the first part that JSON loses, else the first that it changes; undefined if it keeps everything. Never throws: a value that cannot be read
 * a second time is let pass. Iterative: the nesting may be deeper than the stack.
 */
export function jsonLossIn(root: unknown): JsonLoss | undefined {
  let change: JsonLoss | undefined
  const seen = new Set<object>()
  const open: Place[] = [{ value: root, key: '$', within: undefined }]
  try {
    for (let left = PLACES_MAX; left > 0; left--) {
      const place = open.pop()
      if (place === undefined) break
      const loss = lossAt(place, seen)
      if (loss?.fate === 'lost') return loss
      change ??= loss
      if (isBranch(place.value, seen)) open.push(...membersOf(place).reverse())
    }
  } catch {
    // The object throws when it is read a second time.
  }
  return change
}

function isBranch(value: unknown, seen: Set<object>): value is object {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  return typeof (value as { readonly toJSON?: unknown }).toJSON !== 'function'
}

function membersOf(place: Place): Place[] {
  const value = place.value as Readonly<Record<string, unknown>>
  const isList = Array.isArray(value)
  // Holes of a list are undefined as well.
  const keys = isList ? Array.from(value, (_, index) => String(index)) : Object.keys(value)
  return keys.map((key) => ({ value: value[key], key: isList ? `[${key}]` : memberKey(key), within: place }))
}

function memberKey(key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

function lossAt(place: Place, seen: ReadonlySet<object>): JsonLoss | undefined {
  const { value } = place
  const loss = (fate: JsonLoss['fate'], what: string, becomes: string): JsonLoss => {
    return { fate, what, path: pathOf(place), becomes }
  }
  switch (typeof value) {
    case 'function':
    case 'symbol':
      return loss('lost', `a ${typeof value}`, 'nothing')
    case 'bigint':
      return loss('lost', 'a bigint', 'nothing')
    case 'undefined':
      return Array.isArray(place.within?.value) ? loss('changed', 'undefined', 'null') : undefined
    case 'number':
      if (Object.is(value, -0)) return loss('changed', '-0', '0')
      return Number.isFinite(value) ? undefined : loss('changed', String(value), 'null')
    case 'object':
      return value === null ? undefined : lossOfObject(value, place, seen, loss)
    default:
      return undefined
  }
}

function lossOfObject(
  value: object,
  place: Place,
  seen: ReadonlySet<object>,
  loss: (fate: JsonLoss['fate'], what: string, becomes: string) => JsonLoss,
): JsonLoss | undefined {
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === 'function') return undefined
  if (seen.has(value)) {
    for (let above = place.within; above !== undefined; above = above.within) {
      if (above.value === value)
        return loss('lost', `the object at ${pathOf(above)} again, a cycle,`, 'nothing')
    }
  }
  if (Array.isArray(value) || !isEmptied(value)) return undefined
  const name: unknown = value.constructor?.name
  return loss('lost', typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an object', '{}')
}

function pathOf(place: Place): string {
  const keys: string[] = []
  for (let each: Place | undefined = place; each !== undefined; each = each.within) keys.push(each.key)
  return keys.reverse().join('')
}
