import { createEngine, define } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import type pg from 'pg'
import type { Bench } from '../../bench.ts'
import { withClient } from '../../database.ts'
import { WORKLOADS } from '../../workloads.ts'

const CHUNK_RUNS = 500_000

/**
 * How full the engine leaves its pages. It fills them to the tables' fillfactor with new rows, which then grow in place. After a minute of starting
 * and draining runs, a page holds 34 rows of steps or 57 of runs; at the size of the rows made here, this is that share of a page. If pages were
 * filled to the fillfactor with finished rows, each old page would have room for one new, smaller row, and the rows of a new run would be spread over
 * old pages. `rewriteHistory` creates that state, to measure it separately.
 */
const GROWN_FILLFACTORS = { workflow_steps: 65, workflow_runs: 80 }

/** Step rows of a finished run, on average: 1, 2 or 3, depending on its workflow. */
export const STEPS_PER_RUN = 2

// The hot workflow has a history too, and other workflows have runs for dashboards to query.
const HISTORY_WORKFLOWS = Array.from({ length: 8 }, (_, n) => past(`past-${n}`, (n % 3) + 1))

function past(name: string, steps: number) {
  const one = define(name, { version: 1 }).step('a', { run: () => 1 })
  if (steps === 1) return one
  const two = one.step('b', { dependsOn: ['a'], run: () => 2 })
  return steps === 2 ? two : two.step('c', { dependsOn: ['b'], run: () => 3 })
}

/** Creates the tables and fills them with finished runs of the past year, as in a well-maintained database. */
export async function loadHistory(url: string, bench: Bench): Promise<void> {
  await saveDefinitions(url)
  await withClient(url, async (client) => {
    // The history is created once and lost with the database: nothing here needs to survive a crash.
    await client.query('set synchronous_commit = off')
    await withFillfactors(client, GROWN_FILLFACTORS, async () => {
      for (let from = 1; from <= bench.historyRuns; from += CHUNK_RUNS) {
        const to = Math.min(from + CHUNK_RUNS - 1, bench.historyRuns)
        await insertRuns(client, { from, to, of: bench.historyRuns })
        bench.progress(`flat: ${to.toLocaleString('en-US')} finished runs made`)
      }
    })
    await settleDown(client, bench)
  })
  bench.progress('flat: the history is made')
}

/** Rewrites the tables, as restoring a dump does: every page is filled to the fillfactor with rows of their final size. */
export async function rewriteHistory(url: string, bench: Bench): Promise<void> {
  await withClient(url, async (client) => {
    bench.progress('flat: vacuum full')
    await client.query('vacuum full belay.workflow_runs')
    await client.query('vacuum full belay.workflow_steps')
    await settleDown(client, bench)
  })
}

/** Does now what would otherwise happen during a measurement. */
async function settleDown(client: pg.Client, bench: Bench): Promise<void> {
  bench.progress('flat: vacuum and analyze')
  await client.query('vacuum (freeze, analyze) belay.workflow_runs, belay.workflow_steps')
  // The user of a given server may lack this privilege.
  await client.query('checkpoint').catch(() => {})
}

/** Does `work` with other fillfactors, and restores the old ones afterwards. */
async function withFillfactors(
  client: pg.Client,
  fillfactors: Readonly<Record<string, number>>,
  work: () => Promise<void>,
): Promise<void> {
  const { rows } = await client.query<{ name: string; fillfactor: string }>(
    `select c.relname as name, o.option_value as fillfactor
     from pg_class c cross join lateral pg_options_to_table(c.reloptions) o
     where c.relnamespace = 'belay'::regnamespace and c.relname = any ($1) and o.option_name = 'fillfactor'`,
    [Object.keys(fillfactors)],
  )
  const set = (name: string, fillfactor: number | string) =>
    client.query(`alter table belay.${name} set (fillfactor = ${fillfactor})`)
  for (const [name, fillfactor] of Object.entries(fillfactors)) await set(name, fillfactor)
  await work()
  for (const { name, fillfactor } of rows) await set(name, fillfactor)
}

/** Creates the schema in a database, with the definitions that the SQL below refers to. */
export async function saveDefinitions(url: string): Promise<void> {
  const engine = createEngine({
    adapter: postgres(url, { autoMigrate: true, connectionsMax: 2, listen: false }),
    workflows: [WORKLOADS.chain.workflow, ...HISTORY_WORKFLOWS],
  })
  await engine.start()
  await engine.close()
}

/**
 * Ended runs: of each hundred of a workflow, one failed, one was compensated, one cancelled, and the others completed. Their ids are those that an
 * engine would have made at that time: uuid v7.
 */
const INSERT_RUNS = `
with past_definitions as materialized (
  select d.id as definition_id, d.name, count(*)::int as steps, row_number() over (order by d.id) - 1 as place,
    count(*) over () as definitions
  from belay.workflow_definitions d
  join belay.workflow_definition_steps s on s.definition_id = d.id
  group by d.id, d.name
),
finished_runs as materialized (
  select
    (lpad(to_hex((extract(epoch from at.created_at) * 1000)::bigint), 12, '0')
      || '7' || substr(random.hex, 1, 3) || '8' || substr(random.hex, 4, 15))::uuid as id,
    d.definition_id, d.name, d.steps, at.created_at, n,
    case n / d.definitions % 100
      when 0 then 'failed' when 1 then 'compensated' when 2 then 'cancelled' else 'completed' end as status
  from generate_series($1::bigint, $2::bigint) n
  cross join lateral (select now() - interval '365 days' * (1 - n / ($3::float8 + 1)) as created_at) at
  cross join lateral (select md5(n::text) as hex) random
  join past_definitions d on d.place = n % d.definitions
),
inserted_runs as (
  insert into belay.workflow_runs
    (id, definition_id, open_steps, created_at, finished_at, status, stop, ends_as, workflow, key, input, cause)
  select id, definition_id, 0, created_at, created_at + interval '2 seconds', status,
    case status when 'completed' then null when 'cancelled' then 'cancellation' else 'failure' end,
    case when status <> 'completed' then status end,
    name, 'order:' || n, json_build_object('order', n, 'items', 3),
    case when status <> 'completed' then json_build_object('type', 'cancelled') end
  from finished_runs
  order by id
)
insert into belay.workflow_steps
  (run_id, step, open_dependencies, fence, worker_id, started_at, finished_at, status, undo_of, output)
select r.id, step, 0, 1, '00000000-0000-7000-8000-000000000000', r.created_at, r.created_at + interval '1 second',
  r.status, case r.status when 'compensated' then 'completed' end,
  json_build_object('reference', r.n, 'amount', 100 + step)
from finished_runs r
cross join lateral generate_series(0, r.steps - 1) step
order by r.id, step`

async function insertRuns(
  client: pg.Client,
  { from, to, of }: { from: number; to: number; of: number },
): Promise<void> {
  await client.query(INSERT_RUNS, [from, to, of])
}
