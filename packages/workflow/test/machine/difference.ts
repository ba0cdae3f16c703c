import type { Run, Unit } from '../../src/machine/state.ts'

/** How a run that was loaded from its rows differs from the one in memory; null: in nothing. It runs after every commit, so it builds no texts. */
export function difference(stored: Run, known: Run): string | null {
  for (const name of ['paused', 'born', 'parked', 'deadlineAt', 'ends'] as const)
    if (stored[name] !== known[name]) return told(`run.${name}`, stored[name], known[name])
  for (let no = 0; no < Math.max(stored.units.length, known.units.length); no++) {
    const [unit, other] = [stored.units[no], known.units[no]]
    if (unit === undefined && other === undefined) continue
    if (unit === undefined || other === undefined)
      return `unit ${no} is not in ${unit ? 'memory' : 'the rows'}`
    const field = differingField(unit, other, known)
    if (field !== null) return told(`unit ${no}.${field}`, shown(unit, field), shown(other, field))
  }
  return null
}

const told = (what: string, says: unknown, has: unknown): string =>
  `${what}: rows say ${JSON.stringify(says)}, memory ${JSON.stringify(has)}`

/** What points at other units, or means nothing at times, has a comparison of its own. */
const OTHERS: ReadonlySet<keyof Unit> = new Set<keyof Unit>([
  ...(['spec', 'scope', 'units', 'named', 'alive', 'resting', 'isCounted', 'mem', 'aside'] as const),
])

function differingField(unit: Unit, other: Unit, known: Run): keyof Unit | null {
  // With its fields, whatever they are: a new one is compared from its first day.
  for (const field in unit) {
    const name = field as keyof Unit
    if (unit[name] !== other[name] && !OTHERS.has(name) && !isSame(unit[name], other[name])) return name
  }
  if (unit.scope?.no !== other.scope?.no) return 'scope'
  if (isAside(unit) !== isAside(other)) return 'aside'
  if (unit.units === null) return other.units === null ? null : 'units'
  if (!hasSameUnits(unit, other)) return 'units'
  if (isCounting(unit) && unit.alive !== other.alive) return 'alive'
  if (isCounting(unit) && unit.resting !== other.resting) return 'resting'
  return !isKeeping(unit) || isSameMem(unit.mem, other.mem, known) ? null : 'mem'
}

const isAside = ({ aside, scope }: Unit): boolean => aside && scope!.status === 'stopping'

function hasSameUnits({ units: one }: Unit, { units: other }: Unit): boolean {
  if (one!.length !== other?.length) return false
  for (let i = 0; i < one!.length; i++) if (one![i]!.no !== other[i]!.no) return false
  return true
}

/** It is undone by its units, and not as one. */
const isUndoing = ({ status, spec }: Unit): boolean => status === 'undoing' && spec.compensate === undefined

const isCounting = (s: Unit): boolean =>
  s.status === 'open' || s.status === 'stopping' || s.status === 'parked' || isUndoing(s)

const isKeeping = (s: Unit): boolean => s.status === 'open' || isUndoing(s)

/** In an undo, how many units each of the others waits for. */
function isSameMem(one: unknown, other: unknown, known: Run): boolean {
  if (!(one instanceof Map)) return isSame(one, other)
  if (!(other instanceof Map) || one.size !== other.size) return false
  for (const [{ no }, count] of one as Map<Unit, number>)
    if (other.get(known.units[no]) !== count) return false
  return true
}

type Fields = Readonly<Record<string, unknown>>

/** As JSON would have it: what is undefined is not there. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  let more = 0
  for (const name in one) {
    const value = (one as Fields)[name]
    if (value === undefined) continue
    if (!isSame(value, (other as Fields)[name])) return false
    more += 1
  }
  for (const name in other) if ((other as Fields)[name] !== undefined) more -= 1
  return more === 0
}

function shown(u: Unit, field: keyof Unit): unknown {
  if (field === 'scope') return u.scope?.no
  if (field === 'units') return u.units?.map(({ no }) => no)
  if (field !== 'mem' || !(u.mem instanceof Map)) return u[field]
  return [...(u.mem as Map<Unit, number>)].map(([{ no }, count]) => [no, count])
}
