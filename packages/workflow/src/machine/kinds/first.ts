import { fail, hasEnded, note, outcomeOf, over, tell, touch } from '../outcomes.ts'
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
const hasWon = (u: Unit): boolean => u.note?.['won'] === true
const winners = (s: Unit): readonly Unit[] => s.units!.filter(hasWon)
const isDecided = (s: Unit): boolean => winners(s).length >= firstOf(s).count

/** The first of several to complete. Its scope goes on as soon as they have; the others are stopped meanwhile. */
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
    if (outcomeOf(u) === 'completed' && !hasWon(u) && !isDecided(s)) {
      note(u, { won: true })
      touch(run, u)
    }
    if (!isDecided(s)) return
    tell(run, s, { output: { winners: winners(s).map(({ key }) => key) } })
    for (const v of s.units!) {
      if (hasWon(v)) continue
      // It had completed before a retry, or failed and its effects stayed: too late now.
      if (!hasEnded(v)) stop(run, v, loses)
      else if (!loses.keep) takeBack(run, v, loses)
    }
  },
  idle: (run, s) => (isDecided(s) ? over(run, s, 'completed') : fail(run, s, 'too_few')),
  // Losers are undone before winners.
  before: (s, u) => (hasWon(u) ? [] : winners(s)),
  bears: () => true,
}
