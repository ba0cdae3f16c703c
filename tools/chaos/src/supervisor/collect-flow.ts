import { grouped } from '../grouped.ts'
import { EACH_SECOND } from '../load/flow.ts'
import type { EntryOfLimit, Facts, FiringFacts } from '../oracle/facts.ts'
import { rows } from './rows.ts'
import type { Stage } from './stage.ts'

/** What the oracle judges of limits and schedules. Nobody works any more. */
export async function flowFacts({
  database,
  fleet,
}: Stage): Promise<Pick<Facts, 'entered' | 'firings' | 'schedules' | 'leftovers' | 'lapses'>> {
  const instant = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const firings = await rows<FiringFacts & { readonly at: number }>(
    database,
    `select schedule, 'schedule:' || schedule || ':' || ${instant('scheduled_at')} as key, cause, status, run_id as "runId",
       extract(epoch from scheduled_at)::float8 * 1000 as at
     from belay.workflow_firings order by schedule, sequence`,
  )
  const [made] = await rows<{ at: number }>(
    database,
    `select extract(epoch from created_at)::float8 * 1000 as at from belay.workflow_schedules where name = '${EACH_SECOND}'`,
  )
  const times = firings.filter(({ schedule, cause }) => schedule === EACH_SECOND && cause === 'time')
  const span = { from: Math.floor((made?.at ?? 0) / 1_000 + 1) * 1_000, to: times.at(-1)?.at ?? 0 }
  return {
    entered: await rows<EntryOfLimit>(
      database,
      `select limit_name as "limit", key, run_id as "runId", step, fence, at_ms as at from entered order by at_ms`,
    ),
    firings,
    schedules: made === undefined ? [] : [{ name: EACH_SECOND, ...span }],
    leftovers: (await rows<{ left: string }>(database, LEFT)).map(({ left }) => left),
    lapses: await lapsesOf({ database, fleet }),
  }
}

async function lapsesOf({ database, fleet }: Pick<Stage, 'database' | 'fleet'>): Promise<Facts['lapses']> {
  const lapsed = await rows<{ worker: string; at: number }>(
    database,
    'select worker, extract(epoch from at)::float8 * 1000 as at from lapses',
  )
  const gone = fleet.children.flatMap(({ name, goneAt }) =>
    goneAt === undefined ? [] : [{ worker: name, at: goneAt.getTime() }],
  )
  const byWorker = grouped([...lapsed, ...gone], ({ worker }) => worker)
  return new Map([...byWorker].map(([worker, all]) => [worker, all.map(({ at }) => at)]))
}

/** What nothing needs once every run has ended. A rate's key is kept until it is as if it had never been used. */
export const LEFT = `
select 'A slot of the limit "' || limit_name || '" with the key "' || key || '" is still taken by step ' || step || ' of run ' || run_id || '.' as left
from belay.workflow_limit_slots
union all select 'Step ' || step || ' of run ' || run_id || ' still stands in the line of the limit "' || limit_name || '" with the key "' || key || '".'
from belay.workflow_limit_waiters
union all select 'The key "' || key || '" of the limit "' || limit_name || '" is still kept.'
from belay.workflow_limit_keys where kept_ms is null`
