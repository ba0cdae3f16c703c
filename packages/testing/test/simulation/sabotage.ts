import type { Adapter } from '@belay/workflow/adapter'
import { simulate } from '../../src/simulation/index.ts'

/** A broken store must be noticed within this many worlds. */
const SEEDS_TO_NOTICE = 160

/** The store with some verbs replaced. */
export function withVerbs(store: Adapter, verbs: Partial<Adapter>): Adapter {
  return new Proxy(store, {
    get(target, name) {
      const verb = verbs[name as keyof Adapter] ?? target[name as keyof Adapter]
      return typeof verb === 'function' ? verb.bind(target) : verb
    },
  })
}

/**
 * Resolves to the violations of the first world that has one like this, else to all that were found. A defect may also show in other ways. `likely` is
 * a seed whose world showed the defect quickly. It only saves time: after a change of the worlds, others of `seeds` show it.
 */
export async function violationsLike(
  wanted: RegExp,
  likely: number,
  sabotage: (store: Adapter) => Adapter,
  seeds: readonly number[] = Array.from({ length: SEEDS_TO_NOTICE }, (_, seed) => seed + 1),
): Promise<readonly string[]> {
  const others: string[] = []
  for (const seed of [likely, ...seeds]) {
    const { violations } = await simulate({ seed, sabotage })
    if (wanted.test(violations.join())) return violations
    others.push(...violations)
  }
  return others
}
