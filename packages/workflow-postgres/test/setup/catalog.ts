import type { Pool } from 'pg'

const COLUMNS = `
select c.relname as relation, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
  a.attnotnull as is_required, pg_get_expr(d.adbin, d.adrelid) as default_value, a.attidentity <> '' as is_identity
from pg_attribute a
join pg_class c on c.oid = a.attrelid
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where c.relnamespace = $1::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
order by c.relname, a.attnum`

const RELATIONS = `
select c.relname as name, coalesce(array_to_string(c.reloptions, ', '), '') as options, c.relreplident = 'f' as is_identified_by_all
from pg_class c where c.relnamespace = $1::regnamespace and c.relkind = 'r' order by c.relname`

// Since version 18 the catalog also holds NOT NULL as constraints; the columns show them already.
const CONSTRAINTS = `
select t.relname as relation, c.conname as name, pg_get_constraintdef(c.oid) as definition
from pg_constraint c join pg_class t on t.oid = c.conrelid
where c.connamespace = $1::regnamespace and c.contype <> 'n' order by t.relname, c.conname`

const INDEXES = `
select tablename as relation, indexname as name, indexdef as definition
from pg_indexes where schemaname = $1 order by tablename, indexname`

const FUNCTIONS = `
select pg_get_functiondef(oid) as definition from pg_proc where pronamespace = $1::regnamespace order by proname, pg_get_function_identity_arguments(oid)`

const VIEWS = `
select viewname as name, pg_get_viewdef(format('%I.%I', schemaname, viewname)::regclass) as definition
from pg_views where schemaname = $1 order by viewname`

/** A migrated schema as the catalog describes it, as text for review. The same on every supported server and for any schema name. */
export async function describeCatalog(pool: Pool, schema: string): Promise<string> {
  const read = async (text: string) => (await pool.query(text, [schema])).rows
  const [columns, relations, constraints, indexes, functions, views] = [
    await read(COLUMNS),
    await read(RELATIONS),
    await read(CONSTRAINTS),
    await read(INDEXES),
    await read(FUNCTIONS),
    await read(VIEWS),
  ]
  const tables = relations.map(({ name, options, is_identified_by_all }) => {
    const of = <Row extends { relation: string }>(rows: Row[]) => rows.filter((row) => row.relation === name)
    return [
      `table ${name}${options === '' ? '' : ` (${options})`}`,
      ...(is_identified_by_all ? ['  replica identity full'] : []),
      ...of(columns).map(describeColumn),
      ...of(constraints).map((constraint) => `  constraint ${constraint.name} ${constraint.definition}`),
      ...of(indexes).map((index) => `  ${index.definition}`),
    ].join('\n')
  })
  const rest = [
    ...functions.map(({ definition }) => definition.trimEnd()),
    ...views.map(({ name, definition }) => `view ${name} as\n${definition}`),
  ]
  return `${[...tables, ...rest].join('\n\n').replaceAll(`${schema}.`, 'belay.')}\n`
}

function describeColumn(column: Record<string, string | boolean | null>): string {
  const { name, type, is_required, default_value, is_identity } = column
  const suffixes = [
    is_required ? ' not null' : '',
    is_identity ? ' generated always as identity' : '',
    default_value === null ? '' : ` default ${default_value}`,
  ]
  return `  ${name} ${type}${suffixes.join('')}`
}
