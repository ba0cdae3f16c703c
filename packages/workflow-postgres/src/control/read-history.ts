import type { HistoryRecord } from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

interface HistoryRow {
  readonly at: number
  readonly action: string
  readonly step: number | null
  readonly name: string | null
  readonly actor: string | null
  readonly reason: string | null
  readonly change: string | null
  readonly key: string | null
}

/**
 * The newest entries of a run's history and the newest signals that it received, in order. The steps of signals have the names that belong to their
 * numbers in the same snapshot. A step's signals of one moment come in the order in which it took them. Index: primary keys. No locks.
 */
export const readHistoryStatement: Statement<HistoryRow> = {
  name: 'read_history',
  text: `
select (extract(epoch from told.at) * 1000)::float8 as at, told.action, told.step, ds.name, told.actor, told.reason, told.change, told.key
from (
  select merged.* from (
    select h.at, h.id, h.action, h.step, h.actor, h.reason, h.change::text as change, null::text as key, 0 as nth
    from belay.workflow_history h
    where h.run_id = $1::uuid
    union all
    select s.received_at, 0, 'signal', s.step, s.actor, null, s.payload::text, s.key, coalesce(nullif(s.superseded, 0), 2147483647)
    from belay.workflow_signals s
    where s.run_id = $1::uuid
  ) merged
  order by merged.at desc, merged.id desc, merged.step desc, merged.nth desc, merged.key desc
  limit $2::int
) told
left join belay.workflow_runs r on told.action = 'signal' and r.id = $1::uuid
left join belay.workflow_definition_steps ds on ds.definition_id = any (array[r.definition_id]) and ds.step = any (array[told.step])
order by told.at, told.id, told.step, told.nth, told.key`,
}

export async function readHistory(
  connection: Connection,
  { runId, limit }: { readonly runId: string; readonly limit: number },
): Promise<readonly HistoryRecord[]> {
  return isUuid(runId) ? connection.query(readHistoryStatement, [runId, limit]) : []
}
