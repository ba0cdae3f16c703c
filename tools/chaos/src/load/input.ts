import type { Random } from '../random.ts'

/** The input decides all that a run does, so that any process can continue it. */
export interface Input {
  readonly seed: number
  /** Counts the runs of a workflow. The gallery and the checkout take what they do from it, and the errand whether it fails. */
  readonly lot: number
  /** The last step fails for good: everything is undone. */
  readonly fails: boolean
  /** The undo of its first step fails for good until somebody has repaired it. */
  readonly parks: boolean
  /** One attempt of a step with a timeout takes longer than that timeout. */
  readonly slow: boolean
  readonly from: number
  readonly to: number
  readonly cents: number
  /** The longest duration of handlers, in milliseconds. */
  readonly handlerMs: number
  /** Of a collected call: the key that names it. */
  readonly call?: string
}

/** What the next run of a workflow does. `isPlanned`: its lot also decides whether it fails, so that some of a few runs do. */
export function drawInput(
  random: Random,
  {
    accounts,
    lot,
    isPlanned,
  }: { readonly accounts: number; readonly lot: number; readonly isPlanned: boolean },
): Input {
  const from = random.between(0, accounts - 1)
  const fails = isPlanned ? lot % 4 === 3 : random.chance(0.2)
  return {
    seed: random.seed(),
    lot,
    fails,
    parks: fails && random.chance(0.15),
    slow: random.chance(0.1),
    from,
    to: (from + random.between(1, accounts - 1)) % accounts,
    cents: random.between(1, 9_999),
    handlerMs: random.chance(0.1) ? 600 : 60,
  }
}
