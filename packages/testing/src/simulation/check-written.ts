import { count } from './calls.ts'
import type { Written } from './store.ts'

/** What transactional handlers wrote: a write must exist as often as its outcome was recorded. That is once, unless an operator sent the step forward again. */
export class Writes {
  /** How often an outcome was recorded whose handler wrote, by run, step and outcome. */
  readonly #committed = new Map<string, number>()

  committed(one: Written): void {
    count(this.#committed, nameOf(one))
  }

  check(found: readonly Written[], broken: (violation: string) => void): void {
    const written = new Map<string, number>()
    for (const one of found) count(written, nameOf(one))
    for (const key of new Set([...written.keys(), ...this.#committed.keys()])) {
      const [writes, outcomes] = [written.get(key) ?? 0, this.#committed.get(key) ?? 0]
      if (writes !== outcomes) broken(`${key} was written ${writes} times and recorded ${outcomes} times`)
    }
  }
}

function nameOf({ runId, step, outcome }: Written): string {
  return `${runId}/${step}/${outcome}`
}
