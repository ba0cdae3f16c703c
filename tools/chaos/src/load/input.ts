import type { Random } from '../random.ts'

/** Everything that a run will do is decided by its input, so that any process can carry it on. */
export interface Input {
  readonly seed: number
  /** The last step fails for good: all is undone. */
  readonly fails: boolean
  /** The undo of its first step fails for good, until somebody has repaired it. */
  readonly parks: boolean
  /** One attempt of a step with a timeout takes longer than that. */
  readonly slow: boolean
  readonly from: number
  readonly to: number
  readonly cents: number
  /** Milliseconds that handlers take at most. */
  readonly handlerMs: number
}

export function drawInput(random: Random, accounts: number): Input {
  const from = random.between(0, accounts - 1)
  const fails = random.chance(0.2)
  return {
    seed: random.seed(),
    fails,
    parks: fails && random.chance(0.15),
    slow: random.chance(0.1),
    from,
    to: (from + random.between(1, accounts - 1)) % accounts,
    cents: random.between(1, 9_999),
    handlerMs: random.chance(0.1) ? 600 : 60,
  }
}
