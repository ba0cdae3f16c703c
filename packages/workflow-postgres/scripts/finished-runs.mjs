const CHUNK_RUNS = 500_000

const DEFINITION = `
insert into belay.workflow_definitions (version, created_at, name, checksum, shape)
values (1, now(), 'past', 'past', '{"steps":[{"name":"a","dependsOn":[],"compensate":"completed"},{"name":"b","dependsOn":[0],"compensate":"never"}]}');
insert into belay.workflow_definition_steps (definition_id, step, name, dependencies, dependents)
values (1, 0, 'a', '{}', '{1}'), (1, 1, 'b', '{0}', '{}')`

/**
 * Runs $1 to $2 of $3, of the year past, with ids that an engine would have made at that time (uuid v7). Each has two steps. One in ten has had a
 * signal, one in a thousand an operator's action, one in ten thousand is being undone, and all others are completed. The schema is 0004's.
 */
const RUNS = `
with made_runs as materialized (
  select
    (lpad(to_hex((extract(epoch from at.created_at) * 1000)::bigint), 12, '0')
      || '7' || substr(random.hex, 1, 3) || '8' || substr(random.hex, 4, 15))::uuid as id,
    at.created_at, n, n % 10000 = 0 as is_undone
  from generate_series($1::bigint, $2::bigint) n
  cross join lateral (select now() - interval '365 days' * (1 - n / ($3::float8 + 1)) as created_at) at
  cross join lateral (select md5(n::text) as hex) random
),
inserted_runs as (
  insert into belay.workflow_runs
    (id, definition_id, open_steps, created_at, finished_at, status, stop, ends_as, workflow, key, input, cause)
  select id, 1, is_undone::int, created_at, case when not is_undone then created_at + interval '2 seconds' end,
    case when is_undone then 'compensating' else 'completed' end, case when is_undone then 'failure' end,
    case when is_undone then 'compensated' end, 'past', 'order:' || n, json_build_object('order', n, 'items', 3),
    case when is_undone then json_build_object('type', 'cancelled') end
  from made_runs
  order by id
),
inserted_signals as (
  insert into belay.workflow_signals (run_id, step, received_at, key)
  select id, 1, created_at, 'signal' from made_runs where n % 10 = 0
),
inserted_history as (
  insert into belay.workflow_history (run_id, at, action)
  select id, created_at, 'retry' from made_runs where n % 1000 = 1
)
insert into belay.workflow_steps
  (run_id, step, open_dependencies, attempt, failures, worker_id, started_at, finished_at, status, undo_of, output, signalled_at)
select r.id, step, 0, 1, 0, case when not r.is_undone then '00000000-0000-7000-8000-000000000000'::uuid end, r.created_at,
  r.created_at + interval '1 second', case when r.is_undone then 'compensating' else 'completed' end,
  case when r.is_undone then 'completed' end, json_build_object('reference', r.n, 'amount', 100 + step),
  case when step = 1 and n % 10 = 0 then r.created_at end
from made_runs r
cross join lateral generate_series(0, 1) step
order by r.id, step`

/**
 * Fills a schema that has had migration 0004 with finished runs, fast, and settles what would otherwise happen while something is measured.
 * @param {import('pg').Client} client
 * @param {number} count
 * @param {(line: string) => void} tell
 */
export async function fillWithFinishedRuns(client, count, tell) {
  await client.query(DEFINITION)
  // Nothing here needs to survive a crash.
  await client.query('set synchronous_commit = off')
  for (let from = 1; from <= count; from += CHUNK_RUNS) {
    const to = Math.min(from + CHUNK_RUNS - 1, count)
    await client.query(RUNS, [from, to, count])
    tell(`${to} runs made`)
  }
  await client.query('reset synchronous_commit')
  await client.query(
    'vacuum (freeze, analyze) belay.workflow_runs, belay.workflow_steps, belay.workflow_signals',
  )
  // It takes a privilege that the user of a given server may not have.
  await client.query('checkpoint').catch(() => {})
  tell('filled')
}
