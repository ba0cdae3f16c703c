import { readFileSync } from 'node:fs'
import { createEngine, define, PermanentError } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'
import { chain } from './setup/graphs.ts'

const PAGES = ['operations.md', 'versions.md', 'faq.md', 'quick-start.md']

/** The SQL of a page, and the line where it begins. */
function statementsOf(page: string): readonly (readonly [string, string])[] {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map((block) => [
    `${page}:${text.slice(0, block.index).split('\n').length + 1}`,
    block[1]!,
  ])
}

describe.each(servers)('the SQL in the documentation, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    await migrate(database.pool)
    const adapter = postgres(database.pool)
    await adapter.open()
    await chain.runThrough(adapter)
    await leaveHostileTexts(adapter)
    await adapter.close()
  })
  afterAll(() => database.drop())

  it.each(PAGES.flatMap(statementsOf))('%s runs unchanged', async (_place, statement) => {
    const client = await database.pool.connect()
    try {
      await client.query('begin')
      await expect(client.query(statement)).resolves.toMatchObject({ rowCount: expect.any(Number) })
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  it('reads every JSON column of every row, as json and as jsonb, whatever texts it contains', async () => {
    const { rows: columns } = await database.pool.query(
      `select table_name, column_name from information_schema.columns
       where table_schema = 'belay' and data_type = 'json' and table_name like 'workflow%'`,
    )
    const read: Record<string, number> = {}
    for (const { table_name: table, column_name: column } of columns) {
      const { rowCount } = await database.pool.query(
        `select ${column}::jsonb, ${column} #>> '{}', ${column} ->> 'message'
         from belay.${table} where ${column} is not null`,
      )
      read[`${table}.${column}`] = rowCount ?? 0
    }

    expect(read).toMatchObject({
      'workflow_runs.input': expect.any(Number),
      'workflow_runs.cause': 4,
      'workflow_steps.output': expect.any(Number),
      'workflow_steps.error': 3,
      'workflow_signals.payload': 1,
      'workflow_history.change': expect.any(Number),
    })
  })

  it('prunes by hand what the page says: old completed runs, with all that belongs to them', async () => {
    const prune = statementsOf('operations.md').find(([, text]) => text.includes('delete from'))![1]
    const client = await database.pool.connect()
    try {
      await client.query('begin')
      const before = await client.query(prune)
      await client.query(
        `update belay.workflow_runs set finished_at = now() - interval '31 days' where workflow = 'chain'`,
      )
      const after = await client.query(prune)
      const { rows } = await client.query(
        `select count(*)::int as left_over from belay.workflow_steps s
         where not exists (select from belay.workflow_runs r where r.id = s.run_id)`,
      )

      expect([before.rowCount, after.rowCount]).toEqual([0, 1])
      expect(rows).toEqual([{ left_over: 0 }])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})

const NUL_AND_HALVES = 'a\0b \ud83d c \ude00'
// Cut at 4,000 characters, it ends in the middle of a surrogate pair.
const CUT_IN_A_PAIR = `x${'👩'.repeat(3_000)}`
const LOOKS_HOSTILE = { '👩 \\u0000': ['\\ud800', '\u0001\u007f\u2028', "'; drop table x; --", '$1', '%s'] }

/** Runs that ended in every way, with hostile texts in errors, causes, reasons, actors and payloads. */
async function leaveHostileTexts(adapter: ReturnType<typeof postgres>): Promise<void> {
  const fail = (text: string) => () => {
    throw Object.assign(new PermanentError(text, { cause: text }), { name: text })
  }
  const workflows = [
    define('failed', { version: 1 }).step('a', { run: fail(NUL_AND_HALVES) }),
    define('cut', { version: 1 }).step('a', { run: fail(CUT_IN_A_PAIR) }),
    define('parked', { version: 1 }).step('a', {
      run: (): unknown => ({ unstorable: NUL_AND_HALVES }),
      compensate: fail(NUL_AND_HALVES),
    }),
    define('kept', { version: 1 })
      .step('a', { run: ({ input }) => input })
      .waitForSignal('b'),
  ]
  const engine = createEngine({ adapter, workflows })
  await engine.start()
  const runs = await Promise.all(workflows.map((workflow) => engine.run(workflow, LOOKS_HOSTILE)))
  const kept = runs.at(-1)!
  await engine.signal(kept.id, 'b', LOOKS_HOSTILE as never)
  await Promise.all(runs.map((run) => run.result().catch(() => {})))
  const cancelled = await engine.run(workflows[3]!, LOOKS_HOSTILE)
  await cancelled.cancel({ by: NUL_AND_HALVES, reason: NUL_AND_HALVES })
  await cancelled.result().catch(() => {})
  expect(await Promise.all(runs.map(async (run) => (await run.status()).status))).toEqual([
    'failed',
    'failed',
    'compensation_failed',
    'completed',
  ])
  await engine.stop()
}
