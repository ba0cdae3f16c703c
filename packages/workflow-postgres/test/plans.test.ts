import type { RunFilter } from '@belay/workflow/adapter'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection } from '../src/connection/connection.ts'
import { inSchema, type Statement } from '../src/connection/statement.ts'
import { SESSION_SETTINGS } from '../src/postgres/session.ts'
import { listRuns } from '../src/read/list-runs.ts'
import { HOT, READING_THE_QUEUE, WORKER } from './plans-hot.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { exportedStatements } from './setup/statements.ts'

const STEPS = 200_000

const TABLES = [
  'runs',
  'steps',
  'ready',
  'ready_late',
  'ready_items',
  'definition_steps',
  'workers',
  'leases',
  'run_ends',
  'collections',
  'collected_calls',
  'schedules',
  'firings',
]

/** Which rows stay in the tables whose rows are deleted when what they stand for is over. */
const KEEPING_FEW: Readonly<Record<string, string>> = {
  ready: 'false',
  ready_late: 'false',
  ready_items: 'false',
  leases: 'id <= 10',
  run_ends: 'sequence <= 10',
  collections: 'key::int <= 10',
  collected_calls: 'key::int <= 10',
}

/** Statements that may read an index as a whole, by the reason. */
const READING_ALL = new Set([
  // A person asked for it.
  'read_stranded_steps',
  // Once, when a worker registers.
  'delete_orphaned_leases',
  // Only of workers of the release before.
  'read_held_by_worker',
  // Runs whose undo is about to begin, whoever has stopped them: a few times a second.
  'read_drained_runs',
])

describe.each(servers)('plans on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  /** A schema with a history, analysed at the given moment. */
  async function storeWithHistory(analysed: 'never' | 'when empty' | 'when full'): Promise<string> {
    const { schema } = await createStore(database)
    const run = (text: string) => database.pool.query(inSchema(text, schema))
    for (const table of TABLES) {
      await run(`alter table belay.workflow_${table} set (autovacuum_enabled = false)`)
    }
    if (analysed === 'when empty') await run('analyze')
    await run(`
insert into belay.workflow_definition_steps values
  (1, 0, 'a', '{}', '{1}'), (1, 1, 'b', '{0}', '{2}'), (1, 2, 'c', '{1}', '{}');
insert into belay.workflow_workers (id, lease_expires_at, started_at, status, name) values ('${WORKER}', now(), now(), 'live', 'w');
insert into belay.workflow_runs (id, definition_id, open_steps, created_at, finished_at, status, workflow)
  select lpad(to_hex(n), 32, '0')::uuid, 1, 0, now(), now(), 'completed', 'w' from generate_series(1, ${STEPS / 4}) n;
insert into belay.workflow_steps (run_id, step, open_dependencies, fence, worker_id, started_at, finished_at, status, output)
  select lpad(to_hex(n), 32, '0')::uuid, step, 0, 1, '${WORKER}', now(), now(), 'completed', '{}'
  from generate_series(1, ${STEPS / 4}) n, generate_series(0, 3) step;
insert into belay.workflow_run_ends (run_id, definition_id, status)
  select lpad(to_hex(n), 32, '0')::uuid, 1, 'completed' from generate_series(1, 20000) n;
insert into belay.workflow_collections (definition_id, key, run_id, mode, due_at, closes_at)
  select 1, n::text, lpad(to_hex(n), 32, '0')::uuid, 'batch', now(), now() from generate_series(1, 20000) n;
insert into belay.workflow_collected_calls (run_id, position, definition_id, call_id, key)
  select lpad(to_hex(n), 32, '0')::uuid, 1, 1, lpad(to_hex(n), 32, '0')::uuid, n::text from generate_series(1, 20000) n;
insert into belay.workflow_leases (worker_id, run_ids)
  select lpad(to_hex(n % 200), 32, '0')::uuid, array[lpad(to_hex(n), 32, '0')::uuid] from generate_series(1, 20000) n;
insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select now(), 1, 0, 0, lpad(to_hex(n), 32, '0')::uuid from generate_series(1, 20000) n;
insert into belay.workflow_schedules (name, workflow, declared, revision, firings, created_at, updated_at, next_at, due_at, spec)
  select lpad(to_hex(n), 32, '0'), 'w' || n % 100, false, 1, 10, now(), now(), now() + n * interval '1 second', now() + n * interval '1 second', '{}'
  from generate_series(1, 100000) n;
insert into belay.workflow_firings (schedule, sequence, scheduled_at, decided_at, cause, status, run_id, is_open)
  select lpad(to_hex(n), 32, '0'), sequence, now(), now(), 'time', 'started', lpad(to_hex(n), 32, '0')::uuid, sequence = 10
  from generate_series(1, 20000) n, generate_series(1, 10) sequence;
insert into belay.workflow_ready_late (due_at, lead, definition_id, step, fence, run_id)
select now() + n * interval '1 minute', 1, 1, 0, 0, gen_random_uuid() from generate_series(1, 5000) n;
insert into belay.workflow_ready_items (available_at, definition_id, step, items, fence, run_id)
  select now(), 1, 65536, 64, 0, lpad(to_hex(n), 32, '0')::uuid from generate_series(1, 20000) n;`)
    if (analysed === 'when full') await run('analyze')
    return schema
  }

  /** The parts of each hot statement's plan that scan a whole table, or join by anything but a lookup. */
  async function flawsOfPlans(schema: string, settings: string): Promise<readonly string[]> {
    const client = await database.pool.connect()
    try {
      await client.query(settings)
      const flaws: string[] = []
      for (const [statement, values] of HOT) {
        const plan = await explain(client, inSchema(statement.text, schema), values)
        flaws.push(...flawsOf(plan, BIG_TABLES).map((line) => `${statement.name}: ${line}`))
      }
      for (const [statement, values] of READING_THE_QUEUE) {
        const plan = await explain(client, inSchema(statement.text, schema), values)
        flaws.push(...flawsOf(plan, HISTORY).map((line) => `${statement.name}: ${line}`))
      }
      return flaws
    } finally {
      client.release(true)
    }
  }

  // For a given pool, both plans: the first ones, for the values they see, and the generic one that it keeps.
  const SESSIONS = {
    'its own pool': SESSION_SETTINGS,
    'a given pool': 'set plan_cache_mode = force_custom_plan',
    'a given pool, later': 'set plan_cache_mode = force_generic_plan',
  }

  it.each(['never', 'when empty', 'when full'] as const)(
    `look rows up among ${STEPS} finished steps, analysed %s`,
    async (analysed) => {
      const schema = await storeWithHistory(analysed)

      for (const [session, settings] of Object.entries(SESSIONS)) {
        expect(await flawsOfPlans(schema, settings), session).toEqual([])
      }
    },
  )

  it.each(['never', 'when full'] as const)(
    'list the runs asked for without scanning others, analysed %s',
    async (analysed) => {
      const schema = await storeWithHistory(analysed)
      const seen: string[] = []
      for (const [session, settings] of Object.entries(SESSIONS)) {
        const client = await database.pool.connect()
        try {
          await client.query(settings)
          for (const filter of LISTS) {
            const passed = await passedOver(client, schema, filter)
            if (passed > 0) seen.push(`${session}: ${JSON.stringify(filter)}: ${passed} rows`)
          }
        } finally {
          client.release(true)
        }
      }
      expect(seen).toEqual([])
    },
  )

  // Beside a held snapshot, dead rows and dead entries of indexes stay, while the statistics say that few rows live.
  it('look rows up in every statement, analysed when few of many rows live', async () => {
    const schema = await storeWithHistory('never')
    const holder = await database.pool.connect()
    const client = await database.pool.connect()
    const flaws: string[] = []
    try {
      await holder.query('begin isolation level repeatable read; select 1')
      for (const table of TABLES) {
        const kept = KEEPING_FEW[table]
        if (kept !== undefined)
          await client.query(`delete from ${schema}.workflow_${table} where not (${kept})`)
        await client.query(`analyze ${schema}.workflow_${table}`)
      }
      await client.query(SESSION_SETTINGS)
      for (const { name, text } of await exportedStatements()) {
        if (READING_ALL.has(name ?? '')) continue
        const plan = await explain(client, inSchema(text, schema), nullsFor(text))
        flaws.push(...wholeIndexes(plan).map((line) => `${name}: ${line}`))
      }
    } finally {
      holder.release(true)
      client.release(true)
    }
    expect(flaws).toEqual([])
  })

  it('that its own pool made while everything was empty and analysed stay right', async () => {
    const { schema } = await createStore(database)
    await database.pool.query('analyze')
    expect(await flawsOfPlans(schema, SESSION_SETTINGS)).toEqual([])
  })

  it.each(['never', 'when empty'] as const)(
    'made while everything was empty, analysed %s, find a step of a wide run without reading the others',
    async (analysed) => {
      const { schema } = await createStore(database)
      if (analysed === 'when empty') await database.pool.query('analyze')
      const client = await database.pool.connect()
      const flaws: string[] = []
      try {
        await client.query(SESSION_SETTINGS)
        for (const { name, text } of await exportedStatements()) {
          if (FEW_OF_A_RUN.has(name ?? '')) continue
          const plan = await explain(client, inSchema(text, schema), nullsFor(text))
          flaws.push(...filtersOfSteps(plan).map((line) => `${name}: ${line}`))
        }
      } finally {
        client.release(true)
      }
      expect(flaws).toEqual([])
    },
  )

  it.each(['when empty', 'when full'] as const)(
    'look rows up in every statement, analysed %s',
    async (analysed) => {
      const isFull = analysed === 'when full'
      const { schema } = isFull ? { schema: await storeWithHistory(analysed) } : await createStore(database)
      await database.pool.query('analyze')
      const client = await database.pool.connect()
      // Plans that a given pool makes while everything is empty are its owner's concern.
      const sessions = isFull ? [SESSION_SETTINGS, SESSIONS['a given pool, later']] : [SESSION_SETTINGS]
      const flaws: string[] = []
      try {
        for (const settings of sessions) {
          await client.query(`reset all; ${settings}`)
          for (const { name, text } of await exportedStatements()) {
            const plan = await explain(client, inSchema(text, schema), nullsFor(text))
            flaws.push(...scansOfAll(plan, HISTORY).map((line) => `${name}: ${line}`))
          }
        }
      } finally {
        client.release(true)
      }
      expect(flaws).toEqual([])
    },
  )
})

/** They look up single steps of a run, and are not for its items. */
const FEW_OF_A_RUN = new Set([
  'finish_attempts',
  'finish_attempts_kept',
  'skip_attempts',
  'skip_attempts_kept',
])

/** Where a plan compares the numbers of steps, or of the steps that told values, only after it has read the rows of their runs. */
function filtersOfSteps(plan: string): readonly string[] {
  const lines = linesOf(plan)
  return lines.filter((line, number) => {
    const isFilter = line.startsWith('Filter:') && /\bstep = ANY \(/.test(line)
    return isFilter && /using workflow_(steps|values)_pkey/.test(lines[number - 2] ?? '')
  })
}

const LISTS: readonly RunFilter[] = [
  { status: ['failed'], limit: 50 },
  { status: ['paused', 'failed'], limit: 50 },
  { workflow: ['w'], status: ['failed'], limit: 50 },
  { workflow: ['none'], limit: 50 },
  { workflow: ['w'], limit: 50, before: `0000${'f'.repeat(28)}` },
]

/** How many rows a list reads and then leaves out. */
async function passedOver(client: PoolClient, schema: string, filter: RunFilter): Promise<number> {
  let passed = 0
  const explaining = {
    async query(statement: Statement<unknown>, values: readonly unknown[]) {
      const text = `explain (analyze, format json) ${inSchema(statement.text, schema)}`
      const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(text, [...values])
      const plan = JSON.stringify(rows[0]?.['QUERY PLAN'])
      expect(plan).toContain('workflow_runs')
      for (const [, removed] of plan.matchAll(/"Rows Removed by (?:Index Recheck|Filter)":(\d+)/g))
        passed += Number(removed)
      return []
    },
  }
  await listRuns(explaining as unknown as Connection, filter)
  return passed
}

async function explain(client: PoolClient, text: string, values: string): Promise<string> {
  await client.query(`prepare planned as ${text}`)
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `explain execute planned${values && `(${values})`}`,
  )
  await client.query('deallocate planned')
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

const HISTORY = 'workflow_(steps|runs)'
const BIG_TABLES = 'workflow_(steps|runs|ready|leases|run_ends|collections|collected_calls|schedules|firings)'

function flawsOf(plan: string, tables: string): readonly string[] {
  return [...scansOfAll(plan, tables), ...linesOf(plan).filter((line) => /(Hash|Merge) Join/.test(line))]
}

/** Where a whole table is scanned, or a whole index without a lookup. */
function scansOfAll(plan: string, tables: string): readonly string[] {
  const lines = linesOf(plan)
  return lines.filter((line, number) =>
    /using workflow_(steps|runs)_pkey/.test(line)
      ? !lines[number + 1]?.startsWith('Index Cond:')
      : new RegExp(`Seq Scan on .*${tables}`).test(line),
  )
}

/** Where a table, or an index, of those that grow is read as a whole. */
function wholeIndexes(plan: string): readonly string[] {
  const lines = linesOf(plan)
  const isBig = new RegExp(` on workflow_(${TABLES.filter((table) => !SMALL_TABLES.has(table)).join('|')}) `)
  return lines.filter(
    (line, number) =>
      isBig.test(line) &&
      (line.includes('Seq Scan') ||
        (line.includes(' using ') && !lines[number + 1]?.startsWith('Index Cond:'))),
  )
}

const SMALL_TABLES = new Set(['definition_steps', 'workers', 'schedules', 'firings'])

function linesOf(plan: string): readonly string[] {
  return plan.split('\n').map((line) => line.trim())
}

/** For a generic plan, which does not look at them. */
function nullsFor(text: string): string {
  const count = Math.max(0, ...Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => Number(number)))
  return Array.from({ length: count }, () => 'null').join()
}
