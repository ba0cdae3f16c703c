type Query = (text: string) => Promise<{ readonly rows: readonly unknown[] }>

/** Throws if a step is leased to a worker whose journal does not name its run: neither `held` nor the sweep would find it. */
export async function assertJournaled(query: Query, schema: string): Promise<void> {
  const { rows } = await query(`
select s.run_id, s.step, s.worker_id
from ${schema}.workflow_steps s
join ${schema}.workflow_workers w on w.id = s.worker_id and w.journaled
where s.status in ('running', 'compensating')
  and not exists (
    select from ${schema}.workflow_leases l where l.worker_id = s.worker_id and s.run_id = any (l.run_ids)
  )`)
  if (rows.length === 0) return
  throw new Error(`${rows.length} leased steps are in no journal: ${JSON.stringify(rows.slice(0, 5))}`)
}
