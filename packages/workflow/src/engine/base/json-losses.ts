import { isErrorOfAnyRealm } from '../../thrown.ts'

/** What JSON makes of a part of a value: `lost` is nothing, or an empty object; `changed` is another value. */
export interface JsonLoss {
  readonly fate: 'lost' | 'changed'
  /** What the part is, for a message: `a function`. */
  readonly what: string
  /** Where it is, like `$.items[3].price`; `$` is the value itself. */
  readonly path: string
  /** What JSON stores for it, for a message: `nothing`, `only {}`, or another value. */
  readonly becomes: string
}

const KEPT = 0
const CHANGED = 1
const LOST = 2

/**
 * Tells in few nanoseconds for each member whether JSON keeps a value. A property that is undefined is left out by convention, and a `toJSON()` decides
 * itself what is stored: neither is a loss. `unknown`: the value cannot be read a second time, or nests deeper than the stack. Never throws.
 */
export function jsonFateOf(value: unknown): 'kept' | JsonLoss['fate'] | 'unknown' {
  try {
    const fate = fateOf(value)
    return fate === KEPT ? 'kept' : fate === CHANGED ? 'changed' : 'lost'
  } catch {
    // A getter or a proxy's trap threw, or the stack overflowed.
    return 'unknown'
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
    case 'object': {
      if (value === null) return KEPT
      const fate = Array.isArray(value) ? fateOfList(value) : fateOfObject(value)
      return fate === KEPT || convertsItself(value) ? KEPT : fate
    }
    default:
      return LOST
  }
}

function convertsItself(value: object): boolean {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function'
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
    if (convertsItself(value)) return KEPT
    if (isEmptied(value)) return LOST
  }
  let worst = KEPT
  for (const key in value) {
    const member = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof member === 'string' || isPlainNumber(member)) continue
    // JSON leaves inherited members out. They are not left out above, because a list of own ones takes several times as long.
    if (!Object.hasOwn(value, key)) continue
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
  if (ArrayBuffer.isView(value) || isErrorOfAnyRealm(value)) return true
  // Told by their tag: what another realm made is no instance of a class of this one.
  const tag = Object.prototype.toString.call(value)
  if (tag === '[object Map]' || tag === '[object Set]') return true
  if (tag === '[object String]' || tag === '[object Number]' || tag === '[object Boolean]') return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return false
  return Object.keys(value).length === 0
}

/** A list or object whose members are being read, in order. */
interface Level {
  readonly value: Readonly<Record<string, unknown>>
  /** Undefined for a list: its keys are its indexes. */
  readonly keys: readonly string[] | undefined
  readonly length: number
  next: number
}

/** Proxies may give ever new objects. */
const PLACES_MAX = 500_000

/**
 * Finds the first part that JSON loses, else the first that it changes; undefined if it finds none among the first 500,000 parts, or if a getter or a
 * proxy's trap throws before. Never throws. Iterative: the nesting may be deeper than the stack.
 */
export function jsonLossIn(root: unknown): JsonLoss | undefined {
  let change: JsonLoss | undefined
  const seen = new Set<object>()
  const levels: Level[] = []
  try {
    let value = root
    for (let left = PLACES_MAX; left > 0; left--) {
      const loss = lossAt(value, levels, seen)
      if (loss?.fate === 'lost') return loss
      change ??= loss
      if (isBranch(value, seen)) levels.push(levelOf(value))
      while (levels.length > 0 && levels.at(-1)!.next === levels.at(-1)!.length) levels.pop()
      const level = levels.at(-1)
      if (level === undefined) break
      value = level.value[level.keys?.[level.next] ?? level.next]
      level.next += 1
    }
  } catch {
    // Only the value's own getters and traps throw here.
  }
  return change
}

function isBranch(value: unknown, seen: Set<object>): value is object {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  return !convertsItself(value)
}

function levelOf(branch: object): Level {
  const value = branch as Level['value']
  if (Array.isArray(branch)) return { value, keys: undefined, length: branch.length, next: 0 }
  const keys = Object.keys(branch)
  return { value, keys, length: keys.length, next: 0 }
}

function lossAt(value: unknown, levels: readonly Level[], seen: ReadonlySet<object>): JsonLoss | undefined {
  const loss = (fate: JsonLoss['fate'], what: string, becomes: string): JsonLoss => {
    return { fate, what, path: pathOf(levels), becomes }
  }
  switch (typeof value) {
    case 'function':
    case 'symbol':
      return loss('lost', `a ${typeof value}`, 'nothing')
    case 'bigint':
      return loss('lost', 'a bigint', 'nothing')
    case 'undefined':
      // Holes of a list are undefined as well.
      return Array.isArray(levels.at(-1)?.value) ? loss('changed', 'undefined', 'null') : undefined
    case 'number':
      if (Object.is(value, -0)) return loss('changed', '-0', '0')
      return Number.isFinite(value) ? undefined : loss('changed', String(value), 'null')
    case 'object':
      return value === null ? undefined : lossOfObject(value, levels, seen, loss)
    default:
      return undefined
  }
}

function lossOfObject(
  value: object,
  levels: readonly Level[],
  seen: ReadonlySet<object>,
  loss: (fate: JsonLoss['fate'], what: string, becomes: string) => JsonLoss,
): JsonLoss | undefined {
  if (convertsItself(value)) return undefined
  if (seen.has(value)) {
    const above = levels.findIndex((level) => level.value === value)
    if (above >= 0)
      return loss('lost', `the object at ${pathOf(levels.slice(0, above))} again, a cycle,`, 'nothing')
  }
  if (Array.isArray(value) || !isEmptied(value)) return undefined
  const name: unknown = value.constructor?.name
  const what = typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an object'
  return loss('lost', what, isIndexed(value) ? 'an object with its indexes as names' : 'only {}')
}

/** A typed array that is not empty. */
function isIndexed(value: object): boolean {
  return ArrayBuffer.isView(value) && Object.keys(value).length > 0
}

/** The path of the member that was read last. */
function pathOf(levels: readonly Level[]): string {
  return `$${levels.map(({ keys, next }) => (keys === undefined ? `[${next - 1}]` : memberKey(keys[next - 1]!))).join('')}`
}

function memberKey(key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
