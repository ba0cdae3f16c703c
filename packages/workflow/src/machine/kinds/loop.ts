import type { Answer } from '../answers.ts'
import { question, wait } from '../life.ts'
import { complete, isUndone, note, outcomeOf, over, tell, touch } from '../outcomes.ts'
import { at, begin, birth } from '../scope.ts'
import type { Kind, Run, Spec, Unit } from '../state.ts'

export interface LoopSpec extends Spec {
  readonly each: Spec
}

const loopOf = (s: Unit) => s.spec as LoopSpec
const placeOf = (u: Unit) => u.key as number

/** A handler that is a round says itself whether another round follows; of any other round the loop is asked. */
const saysMore = (s: Unit): boolean => loopOf(s).each.of.asks === 'run'

/** A unit for each round, one after the other. How many there may be is for whoever answers. */
export const loop: Kind = {
  name: 'loop',
  asks: 'open',
  specOf: (spec) => (spec as LoopSpec).each,
  grow(run, s, answer) {
    if (answer !== undefined && s.units!.length === 0) born(run, s, 0, answer.items?.[0]?.item)
  },
  open(run, s) {
    const last = s.units!.at(-1)
    // It was stopped before the next round was born, which comes at once now.
    if (last === undefined || (last.status === 'completed' && last.note?.['more'] === true))
      born(run, s, s.units!.length)
    begin(run, s.units![0]!)
  },
  ended(run, s, u) {
    if (u.status === 'skipped') finish(run, s, u)
    else if (u.note?.['more'] === undefined) question(run, s, 'until')
    else goOn(run, s, u)
  },
  answered(run, s, answer) {
    const u = s.units!.find((v) => outcomeOf(v) === 'completed' && v.note?.['more'] === undefined)!
    s.phase = null
    touch(run, s)
    keepMore(u, answer)
    touch(run, u)
    goOn(run, s, u)
  },
  idle(run, s) {
    if (s.note?.told === true) over(run, s, 'completed')
  },
  before: (s, u) => (placeOf(u) > 0 ? [s.units![placeOf(u) - 1]!] : []),
  keeps(_run, s, u, answer) {
    if (saysMore(s)) keepMore(u, answer)
  },
  rebirths: true,
  restarts: (s) => (s.units!.some(isUndone) ? 'anew' : null),
  decides: { because: 'it begins a loop', remedy: 'Retry the run, or skip a round of the loop.' },
  keepsEffects: true,
}

function keepMore(u: Unit, { more, nextAt }: Answer): void {
  note(u, { more: more === true, ...(nextAt === undefined ? {} : { nextAt }) })
}

const born = (run: Run, s: Unit, place: number, item?: unknown): Unit =>
  birth(run, s, place, loopOf(s).each, {
    label: String(place + 1),
    ...(item === undefined ? {} : { item }),
  })

function goOn(run: Run, s: Unit, u: Unit): void {
  if (u.note?.['more'] !== true) return finish(run, s, u)
  const place = placeOf(u) + 1
  const known = at(s, place)
  if (known !== undefined) return begin(run, known)
  const next = born(run, s, place)
  const nextAt = u.note['nextAt'] as number | undefined
  if (nextAt === undefined) return begin(run, next)
  // A delay passes in a pause, too.
  s.alive += 1
  wait(run, next, nextAt)
}

/** Its output is that of its last round, of which units may still be under way. */
function finish(run: Run, s: Unit, u: Unit): void {
  if (s.alive > 0) tell(run, s, { outputOf: u.no })
  else complete(run, s, { outputOf: u.no })
}
