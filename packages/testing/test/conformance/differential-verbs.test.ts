import type { Adapter } from '@belay/workflow/adapter'
import { expect, test } from 'vitest'
import { compareAdapters, memoryHarness } from '../../src/conformance/index.ts'
import { memory } from '../../src/index.ts'
import { verbsOf } from '../../src/simulation/index.ts'

/** The harness calls these before there is anything to compare. */
const NOT_COMPARED = ['open']

const WAYS = ['startRuns', 'deliverSignals', 'findRun', 'saveDefinitions', 'now'].map(
  (verb) => `${verb} with tx`,
)

test('random commands call every verb of the port, also in a transaction where a verb takes one', async () => {
  const called = new Set<string>()
  for (const seed of [1, 2]) await compareAdapters(seed, heardBy(called), memoryHarness(), 500)

  const wanted = [...verbsOf(memory()), ...WAYS].filter((verb) => !NOT_COMPARED.includes(verb))
  expect(wanted.filter((verb) => !called.has(verb))).toEqual([])
})

function heardBy(called: Set<string>) {
  const harness = memoryHarness()
  return { ...harness, adapter: listening(harness.adapter, called) }
}

/** The adapter; adds every verb that somebody calls to `called`. */
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
