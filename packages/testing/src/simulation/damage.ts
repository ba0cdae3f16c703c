import { isTerminal } from '@belay/workflow/adapter'
import type { Dump } from '../invariants/index.ts'
import { hasLimits } from './limits.ts'
import type { Plan } from './plan.ts'
import { Random } from './random.ts'

/**
 * What happens to the rows of one run, as after a bad restore. `missing row`: the row of its last step is gone. `fence`: its fences are as large as the
 * store can keep. `deadline`: its deadline is before all time.
 */
export type DamageKind = 'missing row' | 'fence' | 'deadline'

const KINDS: readonly DamageKind[] = ['missing row', 'fence', 'deadline']

/** The last digit of the seeds of worlds in which a run is damaged. */
const DAMAGING = 8
const CHANCE = 0.01

/** A run whose rows are damaged, once in some worlds: nobody knows what becomes of it and of its family, but all others must go on. */
export class Damage {
  readonly #random: Random
  readonly #isDrawn: boolean
  /** The damaged run, and its family as far as it has been seen. */
  readonly #family = new Set<string>()

  constructor(seed: number, plans: readonly Plan[]) {
    this.#random = new Random(seed ^ 0xdead)
    // A slot of a damaged run would keep others waiting.
    this.#isDrawn = seed % 10 === DAMAGING && !plans.some(hasLimits)
  }

  /** Chance may pick a run of these to damage now, and how. */
  pick({ runs }: Dump): { readonly runId: string; readonly kind: DamageKind } | undefined {
    const live = runs.filter(({ run }) => !isTerminal(run.status))
    if (live.length === 0) return undefined
    const { runId, parent } = this.#random.pick(live).run
    this.#family.add(runId)
    // Dumps leave the damaged run out, and with it the way to its parent.
    if (parent !== null) this.#family.add(parent.runId)
    return { runId, kind: this.#random.pick(KINDS) }
  }

  /** Whether chance wants to damage a run now. Only one of a world. */
  isDue(): boolean {
    return this.#isDrawn && this.#family.size === 0 && this.#random.chance(CHANCE)
  }

  /** What the others look like. */
  withoutDamaged(dump: Dump): Dump {
    if (this.#family.size === 0) return dump
    this.#follow(dump)
    const isOther = ({ runId }: { readonly runId: string }) => !this.#family.has(runId)
    return {
      ...dump,
      runs: dump.runs.filter(({ run }) => isOther(run)),
      ...(dump.queue === undefined ? {} : { queue: dump.queue.filter(isOther) }),
      ...(dump.told === undefined ? {} : { told: dump.told.filter(isOther) }),
    }
  }

  /** Whether a text is about a run of the damaged family. */
  concerns(text: string): boolean {
    for (const runId of this.#family) if (text.includes(runId)) return true
    return false
  }

  /** Its children and follow-ups may wait for it, and its parent, and whatever waits for these. */
  #follow({ runs }: Dump): void {
    for (let before = -1; before !== this.#family.size; ) {
      before = this.#family.size
      for (const { run } of runs) {
        if (run.parent === null) continue
        if (this.#family.has(run.runId)) this.#family.add(run.parent.runId)
        else if (this.#family.has(run.parent.runId)) this.#family.add(run.runId)
      }
    }
  }
}
