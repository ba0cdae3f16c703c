import { complete, fail } from '../outcomes.ts'
import { begin, birth } from '../scope.ts'
import type { Kind, Run, Spec, Unit } from '../state.ts'

export interface MapSpec extends Spec {
  readonly each: Spec
  /** How many items may be under way. From the code of the owner; without it {@link WINDOW}. */
  readonly concurrency?: number
  /** A failed item does not fail the map. */
  readonly collects?: true
  /** The share of items that must have ended well, from 0 to 1. */
  readonly minSuccess?: number
}

/** Items under way if the definition names no number: what a takeover must doubt is bounded. */
const WINDOW = 1_024

const mapOf = (s: Unit) => s.spec as MapSpec

interface Filling {
  next: number
}

/** A unit for each item. */
export const map: Kind = {
  name: 'map',
  asks: 'open',
  specOf: (spec) => (spec as MapSpec).each,
  grow(run, s, answer) {
    for (let i = s.units!.length; i < (answer?.items ?? 0); i++) birth(run, s, i, mapOf(s).each)
  },
  open(run, s) {
    s.mem = { next: 0 } satisfies Filling
    fill(run, s)
  },
  ended: fill,
  idle(run, s) {
    const { minSuccess = 0 } = mapOf(s)
    const items = s.units!.length
    const good = s.units!.filter(({ status }) => status === 'completed' || status === 'skipped').length
    if (good < minSuccess * items) fail(run, s, 'too_few')
    else complete(run, s, { items })
  },
  before: () => [],
  keepsEffects: true,
  decides: { because: 'it decides the items of a map', remedy: 'Retry the run, or skip items of the map.' },
  bears: (s) => mapOf(s).collects === true,
}

function fill(run: Run, s: Unit): void {
  const filling = s.mem as Filling
  const room = mapOf(s).concurrency ?? WINDOW
  while (filling.next < s.units!.length && s.alive < room) {
    begin(run, s.units![filling.next]!)
    filling.next += 1
  }
}
