import { describe, test } from 'vitest'
import { type AnyCase, perform } from './case.ts'
import type { Harness } from './harness.ts'
import { Scenario } from './scenario/index.ts'
import { SUITES } from './suites.ts'

export interface Conformance {
  /** Called once per test; the store it gives is closed after it. */
  create(): Promise<Harness>
  readonly capabilities?: Capabilities
}

/** What a store can't do for a reason that lies in it. */
export interface Capabilities {
  /** Two adapters can be open on one store, and harnesses have `second`. Default true. */
  readonly secondAdapter?: boolean
  /** Verbs and other transactions wait while a transaction is open. Default false. */
  readonly singleSession?: boolean
}

/** Registers the suite that every adapter passes, as vitest tests. */
export function describeAdapter(name: string, conformance: Conformance): void {
  describe(`${name} adapter`, () => {
    for (const [suite, cases] of Object.entries(SUITES)) {
      describe(suite, () => {
        for (const [behaviour, body] of Object.entries(cases)) register(conformance, behaviour, body)
      })
    }
  })
}

function register(conformance: Conformance, behaviour: string, body: AnyCase): void {
  const reason = reasonToSkip(body, conformance.capabilities)
  const name = reason === undefined ? behaviour : `${behaviour} (skipped: ${reason})`
  test.skipIf(reason !== undefined)(name, () => inStore(conformance, body))
}

function reasonToSkip(body: AnyCase, capabilities: Capabilities = {}): string | undefined {
  const { singleSession = false, secondAdapter = true } = capabilities
  if (singleSession && 'besideTransaction' in body) return 'this store does one thing at a time'
  if (!secondAdapter && 'withSecond' in body) return 'this store has one adapter at a time'
  return undefined
}

async function inStore(conformance: Conformance, body: AnyCase): Promise<void> {
  const harness = await conformance.create()
  try {
    const given = new Scenario(harness)
    await perform(body, given)
    await given.verify()
    await harness.verify?.()
  } finally {
    await harness.close()
  }
}
