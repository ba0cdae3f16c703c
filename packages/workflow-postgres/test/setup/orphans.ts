type Query = (text: string) => Promise<{ readonly rows: readonly unknown[] }>

// Hints outlive their steps: the claim that meets a stale one removes it, and the sweep once it is due. Firings are the history of a schedule, and
// name runs that may be pruned.
const NOT_OF_RUNS = `'workflow_ready', 'workflow_ready_items', 'workflow_ready_late', 'workflow_firings'`

/** Throws if any table holds rows of a run that does not exist. Asks the catalog for the tables, so that none is forgotten. */
export async function assertNoOrphans(query: Query, schema: string): Promise<void> {
  const { rows: tables } = await query(`
select c.relname as name from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attname = 'run_id' and not a.attisdropped
where c.relnamespace = '${schema}'::regnamespace and c.relkind in ('r', 'p') and c.relname not in (${NOT_OF_RUNS})`)
  const names = (tables as readonly { readonly name: string }[]).map(({ name }) => name)
  if (names.length === 0) throw new Error(`Schema ${schema} has no table with a run_id.`)
  const parts = names.map(
    (name) => `select '${name}' as name, run_id from ${schema}.${name} t
where not exists (select from ${schema}.workflow_runs r where r.id = t.run_id)`,
  )
  const { rows } = await query(parts.join(' union all '))
  if (rows.length === 0) return
  throw new Error(`${rows.length} rows belong to runs that are gone: ${JSON.stringify(rows.slice(0, 5))}`)
}
