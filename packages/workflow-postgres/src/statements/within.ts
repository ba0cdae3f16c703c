import type { Mail } from '@belay/workflow/store'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Stores the outcome of a transactional step in its own transaction, unless there is one of its round, or none may be any more. Waits for another transaction
 * that stores one. Index: unique (run, key). Locks: the run’s row in live, for key share: its owner writes it meanwhile, and only its end waits.
 */
const insertOutcome: Statement<{ readonly sequence: string }> = {
  name: null,
  text: `
with held_run as materialized (
  select l.run_id, l.owner from belay.workflow_live l where l.run_id = $1::uuid for key share
)
insert into belay.workflow_mail (run_id, key, event, payload, seen, sent_at)
select l.run_id, $2::text, $3::json, $4::json, l.owner, belay.store_now() from held_run l
on conflict (run_id, key) do nothing
returning sequence::text`,
}

export async function within(transaction: Connection, { run, key, event, payload }: Mail): Promise<boolean> {
  const rows = await transaction.query(insertOutcome, [run, key, event, payload ?? null])
  return rows.length > 0
}
