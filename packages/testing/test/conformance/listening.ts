import { type Adapter, VERBS, type VerbFacts } from '@belay/workflow/adapter'
import type { Harness } from '../../src/conformance/index.ts'

/** The harness; `called` hears of every verb that somebody calls of its adapters, and of `<verb> with tx` if it was in a transaction. */
export function listeningHarness(harness: Harness, called: Set<string>): Harness {
  const { second } = harness
  return {
    ...harness,
    adapter: listening(harness.adapter, called),
    ...(second === undefined ? {} : { second: async () => listening(await second(), called) }),
  }
}

function listening(adapter: Adapter, called: Set<string>): Adapter {
  return new Proxy(adapter, {
    get(target, name) {
      const verb: unknown = Reflect.get(target, name)
      if (typeof verb !== 'function') return verb
      return (...args: unknown[]) => {
        const options = args.at(-1) as { readonly tx?: unknown } | undefined
        called.add(String(name))
        if (options?.tx !== undefined) called.add(`${String(name)} with tx`)
        return verb.apply(target, args)
      }
    },
  })
}

/** Every verb, and those that take a transaction also in one. */
export const WAYS_TO_CALL: readonly string[] = Object.entries<VerbFacts>(VERBS).flatMap(
  ([name, { within }]) => (within === true ? [name, `${name} with tx`] : [name]),
)
