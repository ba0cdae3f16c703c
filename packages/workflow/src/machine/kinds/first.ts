import { complete, fail, note, touch } from '../outcomes.ts'
import { begin, birth, takeBack } from '../scope.ts'
import type { Kind, Spec, Unit } from '../state.ts'
import { stop } from '../stop.ts'

export interface FirstSpec extends Spec {
  readonly each: readonly Spec[]
  /** How many win. */
  readonly count: number
  readonly losers: 'undo' | 'keep'
}

const firstOf = (s: Unit) => s.spec as FirstSpec
const winners = (s: Unit): readonly Unit[] => s.units!.filter((u) => u.note?.['won'] === true)
const isDecided = (s: Unit): boolean => winners(s).length >= firstOf(s).count

/** The first of several to complete; the others are stopped. */
export const first: Kind = {
  name: 'first',
  specOf: (spec, key) => (spec as FirstSpec).each[key as number],
  grow(run, s) {
    for (let i = s.units!.length; i < firstOf(s).each.length; i++) birth(run, s, i, firstOf(s).each[i]!)
  },
  open(run, s) {
    for (const u of s.units!) begin(run, u)
  },
  ended(run, s, u) {
    const loses = { cancelled: 'lost', keep: firstOf(s).losers === 'keep' }
    if (u.status === 'completed' && u.note?.['won'] !== true) {
      // It had completed before a retry, too late now.
      if (isDecided(s)) return loses.keep ? undefined : takeBack(run, u, loses)
      note(u, { won: true })
      touch(run, u)
    }
    if (isDecided(s)) for (const v of s.units!) stop(run, v, loses)
  },
  idle: (run, s) =>
    isDecided(s) ? complete(run, s, { winners: winners(s).map(({ key }) => key) }) : fail(run, s, 'too_few'),
  // Losers are undone before winners.
  before: (s, u) => (u.note?.['won'] === true ? [] : winners(s)),
  bears: () => true,
}
