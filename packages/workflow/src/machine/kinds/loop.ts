import { complete, note } from '../outcomes.ts'
import { begin, unitAt } from '../scope.ts'
import type { Kind, Spec, Unit } from '../state.ts'

export interface LoopSpec extends Spec {
  readonly each: Spec
}

/** What a round says of the next one. */
interface RoundEnd {
  readonly more?: boolean
  readonly delayMs?: number
}

/** A unit for each round, one after the other. The output of a round says whether another follows; how many there may be is for whoever answers it. */
export const loop: Kind = {
  name: 'loop',
  specOf: (spec) => (spec as LoopSpec).each,
  open: (run, s) => begin(run, unitAt(run, s, 0)),
  ended(run, s, u) {
    const { more, delayMs } = (u.note ?? {}) as RoundEnd
    const place = u.key as number
    // The stand-in of a skipped round is the loop’s output, and asks for no other round.
    if (more === true && u.status !== 'skipped') begin(run, unitAt(run, s, place + 1), delayMs)
    else complete(run, s, { rounds: place + 1 })
  },
  idle() {},
  before: (s, u) => ((u.key as number) > 0 ? [s.units![(u.key as number) - 1] as Unit] : []),
  keeps(_run, _s, u, output) {
    const { more, delayMs } = (output ?? {}) as RoundEnd
    note(u, { more: more === true, ...(delayMs === undefined ? {} : { delayMs }) })
  },
  rebirths: true,
  keepsEffects: true,
  decides: { because: 'it begins a loop', remedy: 'Retry the run, or skip a round of the loop.' },
}
