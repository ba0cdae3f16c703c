import type { VerbName } from '@belay/workflow/adapter'
import { expect, test } from 'vitest'
import { type Cases, perform } from '../../src/conformance/case.ts'
import { memoryHarness, Scenario } from '../../src/conformance/index.ts'
import { SUITES } from '../../src/conformance/suites.ts'
import { listeningHarness, WAYS_TO_CALL } from './listening.ts'

/** Verbs that an adapter may omit, and the test of the adapter that has them. */
const WITHOUT_CASE: Partial<Readonly<Record<VerbName, string>>> = {
  allowMigrations: 'packages/workflow-postgres/test/development.test.ts',
  checkTransactions: 'packages/workflow-postgres/test/lifeline.test.ts',
  timeline: 'packages/workflow-postgres/test/lost-commits.test.ts',
  onNews: 'packages/workflow-postgres/test/awaiting.test.ts',
  tell: 'packages/workflow-postgres/test/awaiting.test.ts',
  onNotice: 'packages/workflow-postgres/test/lifeline.test.ts',
}

test('the conformance cases call every verb of the port, also in a transaction where a verb takes one', async () => {
  const called = new Map<string, ReadonlySet<string>>()
  for (const [suite, cases] of Object.entries(SUITES)) called.set(suite, await callsOf(cases))

  expect(waysWithoutCase(called.values())).toEqual(Object.keys(WITHOUT_CASE))

  // The check can fail: a verb is missed once its cases are gone.
  called.delete('pending approvals')
  expect(waysWithoutCase(called.values())).toContain('findApprovals')
})

function waysWithoutCase(called: Iterable<ReadonlySet<string>>): readonly string[] {
  const all = new Set([...called].flatMap((calls) => [...calls]))
  return WAYS_TO_CALL.filter((way) => !all.has(way))
}

/** What these cases call. The suite's own calls after each case, which verify the store, do not count. */
async function callsOf(cases: Cases): Promise<ReadonlySet<string>> {
  const called = new Set<string>()
  for (const body of Object.values(cases)) {
    const harness = memoryHarness()
    try {
      await perform(body, new Scenario(listeningHarness(harness, called)))
    } finally {
      await harness.close()
    }
  }
  return called
}
