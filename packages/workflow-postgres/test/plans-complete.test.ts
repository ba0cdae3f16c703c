import { compareAdapters, memoryHarness } from '@belay/testing/conformance'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { inSchema, type Statement } from '../src/connection/statement.ts'
import type { PostgresAdapter } from '../src/index.ts'
import { HOT, READING_THE_QUEUE } from './plans-hot.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'
import { postgresHarnesses } from './setup/harness.ts'
import { exportedStatements } from './setup/statements.ts'

/** Statements whose plan is not checked for the batches of a busy worker, by the reason. All of them are checked for arguments that nobody knows. */
const NOT_HOT: Readonly<Record<string, readonly string[]>> = {
  'of the tables that grow it reads none': [
    'read_store',
    'read_now',
    'read_store_identity',
    'read_is_odd',
    'read_timeline',
    'read_known_definitions',
    'find_definitions_within',
    'read_isolation',
    'insert_definitions',
    'read_definitions',
    'read_definitions_by_id',
    'find_definition_by_name',
    'read_lock_timeout',
    'set_lock_timeout',
    'find_backends',
    'end_backend',
    'read_left_session',
    'take_over_session',
    'put_session_back',
  ],
  'it is sent only after the database has refused another one': [
    'find_limit_line',
    'find_overdue_runs',
    'lock_hints',
    'lock_ranges',
    'postpone_hints',
    'postpone_ranges',
    'read_part_runs',
    'read_journaled_runs',
  ],
  'it concerns workers, of which there are few': [
    'read_workers',
    'insert_worker',
    'renew_worker',
    'delete_orphaned_leases',
    'lock_leaving',
    'end_lease',
    'delete_worker',
    'expire_workers',
    'declare_dead_workers',
  ],
  'a person asked for it, of one run': [
    'read_run',
    'read_run_part',
    'read_run_without_items',
    'read_run_differing',
    'read_run_sample',
    'lock_run',
    'queue_items',
    'count_rows',
    'read_history',
    'write_run_change',
    'shift_steps',
    'move_signals',
    'supersede_signals',
    'keep_given_up',
    'move_kept_attempts',
    'move_run_values',
    'move_children',
    'leave_limits',
  ],
  'a person asked for it, and it counts up to a limit': [
    'count_overdue_steps',
    'count_ready',
    'list_definitions',
    'read_unknown_leases',
  ],
  'it concerns limits, of which there are few': ['declare_limits'],
  'a function decides; limits-races.test.ts counts what it reads next to 100,000 steps that wait': [
    'enter_limits',
    'take_start_slots',
    'drop_start_slots',
    'free_limits',
    'tend_limits',
    'push_back_limits',
    'set_limit',
  ],
  'a person asked for it, and it counts those that wait': [
    'read_limits',
    'read_limit_lines',
    'read_limit_waits',
  ],
  'a person asked for it, and it looks at some of those that wait': ['read_limit_circles'],
  'it inserts, and looks up only the ids and keys that are taken, and parents by their keys': [
    'insert_runs',
    'insert_prioritised_runs',
    'insert_children',
    'lock_parents',
    'read_holders',
    'lock_collections',
  ],
}

describe('the plan tests', () => {
  it('know of every statement whether it is hot', async () => {
    const hot = [...HOT, ...READING_THE_QUEUE].map(([{ name }]) => name)
    const sorted = (names: readonly (string | null)[]) => names.toSorted()
    const named = (await exportedStatements()).flatMap(({ name }) => name ?? [])

    expect(sorted([...hot, ...Object.values(NOT_HOT).flat()])).toEqual(sorted(named))
  })

  describe('explain what the adapter sends', () => {
    let database: TestDatabase
    beforeAll(async () => {
      database = await createDatabase(servers[0]!.url)
    })
    afterAll(() => database.drop())

    it('to the tables, whatever verb it is for', async () => {
      const harness = await postgresHarnesses(database).create()
      const { schema } = harness.adapter as PostgresAdapter
      const query = vi.spyOn(pg.Client.prototype, 'query')
      await compareAdapters(1, memoryHarness(), harness, 200)
      const sent = new Set(query.mock.calls.flatMap(([asked]) => tableText(asked)))
      query.mockRestore()
      await harness.close()
      const statements = await exportedStatements()

      expect(unexplained(sent, statements, schema)).toEqual([])

      // The check can fail: a statement that no module exports is explained by nothing.
      const others = statements.filter(({ name }) => name !== 'claim_steps_directly')
      expect(unexplained(sent, others, schema)).toEqual([expect.stringContaining('workflow_ready')])
    })
  })
})

/** What the adapter sends is an object; text alone is a test's. Sessions are set up without tables. */
function tableText(asked: unknown): readonly string[] {
  if (typeof asked !== 'object' || asked === null || !('text' in asked)) return []
  return typeof asked.text === 'string' && asked.text.includes('workflow_') ? [asked.text] : []
}

/** Texts that vary with what is searched for. finding-plans.test.ts explains them. */
const FINDING_RUNS = [/^select r\.id as run_id/, /^\(select \$1::text as stored, counted\.shown/]

function unexplained(
  sent: ReadonlySet<string>,
  statements: readonly Statement<unknown>[],
  schema: string,
): readonly string[] {
  const explained = new Set(statements.map(({ text }) => inSchema(text, schema)))
  return [...sent].filter((text) => !explained.has(text) && !FINDING_RUNS.some((known) => known.test(text)))
}
