import { question } from '../life.ts'
import { complete, forget, note } from '../outcomes.ts'
import { begin, birth } from '../scope.ts'
import type { Kind, Run, Spec, Unit } from '../state.ts'

export interface MapSpec extends Spec {
  readonly each: Spec
  /** A failed item does not fail the map. */
  readonly collects?: true
}

/** Items that may be busy if the definition names no number: what a takeover must doubt is bounded. */
const BUSY_MAX = 1_024

const windowOf = (s: Unit) => s.note?.['window'] as number | undefined

interface Filling {
  next: number
}

/** A unit for each item. What they come to is a question to its handler, once all have ended. */
export const map: Kind = {
  name: 'map',
  asks: 'open',
  specOf: (spec) => (spec as MapSpec).each,
  grow(run, s, answer) {
    const { each } = s.spec as MapSpec
    for (const { key, item } of answer?.items ?? [])
      birth(run, s, s.units!.length, each, { label: key, item })
    if (answer?.window != null) note(s, { window: answer.window })
    else if (answer !== undefined && windowOf(s) !== undefined) forget(s, 'window')
  },
  open(run, s) {
    s.mem = { next: 0 } satisfies Filling
    fill(run, s)
  },
  ended: fill,
  rests: fill,
  idle: (run, s) => question(run, s, 'gather'),
  answered: complete,
  before: () => [],
  keepsEffects: true,
  remembers: (s) => (windowOf(s) === undefined ? null : { window: windowOf(s) }),
  restarts: (s) => (s.units!.length > 0 && s.units!.every(neverBegan) ? 'again' : null),
  decides: { because: 'it decides the items of a map', remedy: 'Retry the run, or skip items of the map.' },
  bears: (s) => (s.spec as MapSpec).collects === true,
}

const neverBegan = ({ status, serial, units }: Unit): boolean =>
  (status === 'pending' || status === 'cancelled') && serial === 0 && (units ?? []).every(neverBegan)

/** Begins items in their order, as many as may. With a number in the definition each counts until its end; otherwise those that wait do not. */
function fill(run: Run, s: Unit): void {
  const filling = s.mem as Filling | null
  if (filling === null || s.status !== 'open') return
  const window = windowOf(s)
  while (filling.next < s.units!.length) {
    const u = s.units![filling.next]!
    const isFull = window === undefined ? s.alive - s.resting >= BUSY_MAX : s.alive >= window
    if (u.status === 'pending' && isFull) return
    filling.next += 1
    if (u.status === 'pending') begin(run, u)
  }
}
