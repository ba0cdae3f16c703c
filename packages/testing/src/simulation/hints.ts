import type { WakeHint } from '@belay/workflow/adapter'
import type { Random } from './random.ts'
import type { Process } from './scheduler.ts'

/** The share of hints that a process never receives. */
const LOST = 0.05

/** Carries hints between processes, in place of the store. A hint arrives at the receiver's next turn, or never. */
export class Hints {
  readonly #random: Random
  readonly #listeners = new Set<{ readonly process: Process; readonly hear: (hint?: WakeHint) => void }>()

  constructor(random: Random) {
    this.#random = random
  }

  listen(process: Process, hear: (hint?: WakeHint) => void): () => void {
    const listener = { process, hear }
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  send(definitionIds: readonly number[] | undefined): void {
    const draw = this.#random.next()
    const hint = definitionIds === undefined ? undefined : { definitionIds, draw }
    for (const { process, hear } of this.#listeners) {
      if (process.dead || this.#random.chance(LOST)) continue
      void process.turn().then(() => hear(hint))
    }
  }
}
