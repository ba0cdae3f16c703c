import type { Input } from './input.ts'

/**
 * What a run of the gallery or the checkout is asked to do. By its lot, so that a few runs in a row do everything. The choices repeat after different
 * numbers of lots, so that each comes together with each other.
 */
export interface Plan {
  /** After its undo, an operator repairs what made the run fail, and retries the run. */
  readonly isRetried: boolean

  /** Rounds of the gallery's loop. Each finds `PHOTOS_PER_ROUND` photos. */
  readonly rounds: number
  /** The upload of one photo fails for good, and the map goes on. */
  readonly hasBadPhoto: boolean
  readonly layout: 'grid' | 'list'

  /** The payment fails for good, and the run goes on with an invoice. */
  readonly declines: boolean
  /** The first attempt of a step with heartbeats falls silent. */
  readonly fallsSilent: boolean
  /** The delivery, a child, fails for good. */
  readonly returns: boolean
  readonly parcels: number
  /** The step after the pivot fails for good, until an operator retries or skips it. */
  readonly afterPivot: 'works' | 'is retried' | 'is skipped'
}

export const PHOTOS_PER_ROUND = 2

export function planOf({ lot, fails }: Input): Plan {
  return {
    isRetried: fails && lot % 16 !== 7 && lot % 5 !== 2,
    rounds: 1 + (lot % 3),
    hasBadPhoto: lot % 2 === 0,
    layout: lot % 4 < 2 ? 'grid' : 'list',
    declines: lot % 3 === 1,
    fallsSilent: lot % 2 === 0,
    returns: lot % 5 === 2,
    parcels: 2 + (lot % 3),
    afterPivot: AFTER_PIVOT[lot % 5]!,
  }
}

const AFTER_PIVOT = ['works', 'is retried', 'works', 'is skipped', 'works'] as const

/** Photos that the loop finds in all its rounds. */
export function photosOf({ rounds }: Plan): readonly string[] {
  return Array.from({ length: rounds * PHOTOS_PER_ROUND }, (_, index) => `p${index}`)
}

export const BAD_PHOTO = 'p1'
