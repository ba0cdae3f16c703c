type Query = (text: string) => Promise<{ readonly rows: readonly unknown[] }>

// Hints outlive their steps: the claim that meets a stale one removes it.
const HINTS = 'workflow_ready'

/** Throws if any table holds rows of a run that does not exist. Asks the catalog for the tables, so that none is forgotten. */
export async function assertNoOrphans(query: Query, schema: string): Promise<void> {
  const { rows: tables } = await query(`
select c.table_name as name from information_schema.columns c
join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
where c.table_schema = '${schema}' and c.column_name = 'run_id' and c.table_name <> '${HINTS}'`)
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
