import { withClient } from '../../database.ts'
import { drainUnder, type FlatBench } from './condition.ts'
import { saveDefinitions } from './history.ts'

/** Runs of the chain of 3 whose first step is due within the next days: half wait for a retry, half for their start time. */
const INSERT_WAITING = `
with chain as materialized (
  select id as definition_id from belay.workflow_definitions where name = 'chain'
),
waiting_runs as materialized (
  select
    (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0')
      || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid as id,
    chain.definition_id, n % 2 as fence, now() + interval '1 hour' + n * interval '1 second' as available_at
  from chain, generate_series(1, $1::int) n
),
inserted_runs as (
  insert into belay.workflow_runs (id, definition_id, open_steps, created_at, status, workflow)
  select id, definition_id, 1, now(), 'running', 'chain' from waiting_runs order by id
),
inserted_steps as (
  insert into belay.workflow_steps (run_id, step, open_dependencies, fence, failures, status)
  select r.id, s.step, cardinality(s.dependencies),
    case when cardinality(s.dependencies) = 0 then r.fence else 0 end,
    case when cardinality(s.dependencies) = 0 then r.fence else 0 end,
    case when cardinality(s.dependencies) = 0 then 'ready' else 'pending' end
  from waiting_runs r
  join belay.workflow_definition_steps s on s.definition_id = r.definition_id
  order by r.id, s.step
)
insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
select r.available_at, r.definition_id, s.step, r.fence, r.id
from waiting_runs r
join belay.workflow_definition_steps s on s.definition_id = r.definition_id
where cardinality(s.dependencies) = 0
order by r.available_at`

/** Inserts them, after `saveDefinitions`. */
export async function insertWaiting(url: string, runs: number): Promise<void> {
  await withClient(url, (client) => client.query(INSERT_WAITING, [runs]))
}

/** The chain of 3 while many runs of the same workflow wait for a retry or a start time. */
export async function measureWithWaiting(given: FlatBench): Promise<void> {
  const runs = given.bench.quick ? 10_000 : 100_000
  await given.bench.server.freshDatabase(async (url) => {
    await saveDefinitions(url)
    await insertWaiting(url, runs)
    const condition = `with ${runs.toLocaleString('en-US')} runs waiting for a retry or a start time`
    await drainUnder(condition, { ...given, url })
  })
}
