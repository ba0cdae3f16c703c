import type { VerbName } from '@belay/workflow/adapter'
import { expect, test } from 'vitest'
import { compareAdapters, memoryHarness } from '../../src/conformance/index.ts'
import { listeningHarness, WAYS_TO_CALL } from './listening.ts'

/** Verbs that no command calls, and why. */
const NOT_COMPARED: Partial<Readonly<Record<VerbName, string>>> = {
  allowMigrations: 'the memory store has no schema',
  checkTransactions: 'the memory has no sessions that could be set wrongly',
  timeline: 'the memory has no server that could be promoted',
  close: 'the harness closes the adapter',
  onWake: 'a hint may be missing or late, so two stores need not agree on it',
  onNews: 'a hint',
  tell: 'a hint',
  onNotice: 'the memory store has no connections that could report anything',
}

test('random commands call every verb of the port, also in a transaction where a verb takes one', async () => {
  const called = new Set<string>()
  for (const seed of [1, 2, 3, 4, 5]) {
    await compareAdapters(seed, listeningHarness(memoryHarness(), called), memoryHarness(), 500)
  }

  expect(WAYS_TO_CALL.filter((way) => !called.has(way))).toEqual(Object.keys(NOT_COMPARED))
})
