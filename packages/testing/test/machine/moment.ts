import type { Definition } from './definitions.ts'
import type { Happening, Reply, View } from './view.ts'

/** What one engine shows, and what it replied. */
export interface Side extends View {
  readonly reply: Reply | undefined
}

/** Where the two engines stand after something has happened. */
export interface Moment {
  readonly definition: Definition
  /** Null: the run has begun. */
  readonly happening: Happening | null
  readonly before: View | null
  readonly today: Side
  readonly machine: Side
  /** Units of which an attempt has ended whose handler was not called. */
  readonly released: ReadonlySet<string>
  /** By how many rounds a unit of the machine is behind. */
  readonly roundsBehind: ReadonlyMap<string, number>
}

export interface Difference {
  /** What differs, and which rule says so. */
  readonly why: string
  /** The two engines go separate ways: the history ends here. */
  parts?(moment: Moment): boolean
  /** What the machine says instead of what today's engine says; the history goes on. */
  expects?(today: Side, moment: Moment): Side
}

type Answer = Extract<Happening, { readonly unit: string }>

export function isAnswer<Does extends Answer['does']>(
  happening: Happening | null,
  does: Does,
): happening is Extract<Answer, { does: Does }> {
  return happening?.does === does
}

export const phaseIn = (view: View | null, unit: string): string | undefined => view?.asks[unit]?.phase
export const isRefused = (reply: Reply | undefined): boolean => typeof reply === 'object'

/** Both refuse, in other words. */
export function withWordsOf(today: Side, machine: Side): Side {
  return isRefused(today.reply) && isRefused(machine.reply) ? { ...today, reply: machine.reply } : today
}

export function itemsEnded({ units }: View, map: string): boolean {
  return Object.entries(units).every(
    ([name, word]) =>
      !name.startsWith(`${map}[`) || !['pending', 'ready', 'running', 'waiting'].includes(word),
  )
}

export function withUnits(side: Side, to: (name: string, word: string) => string | undefined): Side {
  const units = Object.entries(side.units).flatMap(([name, word]) => {
    const changed = to(name, word)
    return changed === undefined ? [] : [[name, changed] as const]
  })
  return { ...side, units: Object.fromEntries(units) }
}

export function withAsks(
  side: Side,
  to: (name: string, ask: View['asks'][string]) => View['asks'][string],
): Side {
  const asks = Object.entries(side.asks).map(([name, ask]) => [name, to(name, ask)] as const)
  return { ...side, asks: Object.fromEntries(asks) }
}
