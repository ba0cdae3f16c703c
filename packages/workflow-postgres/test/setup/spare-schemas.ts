import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { emptyTables, TABLES } from './tables.ts'

/**
 * Migrated schemas of one database that a test has left and another can have: emptying one takes a few milliseconds, migrating one takes a hundred.
 * A schema is taken again only if it is as migrating made it. Who changes its tables, functions, rights or migrations keeps it, and so does who
 * goes on writing to it after the test.
 */
export class SpareSchemas {
  readonly #pool: Pool
  readonly #idle: string[] = []
  /** By schema, the catalog after migrating. */
  readonly #migrated = new Map<string, string>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** A schema and whether it is migrated. */
  async take(): Promise<{ readonly schema: string; readonly isMigrated: boolean }> {
    for (let schema = this.#idle.pop(); schema !== undefined; schema = this.#idle.pop()) {
      if (await this.#isAsMigrated(schema)) return { schema, isMigrated: true }
    }
    return { schema: `belay_${randomBytes(6).toString('hex')}`, isMigrated: false }
  }

  /** Remembers a schema that was just migrated. Throws if it has a table that nobody would empty. */
  async remember(schema: string): Promise<void> {
    const { rows } = await this.#pool.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = $1 and not tablename = any ($2) order by tablename`,
      [schema, ['migrations', ...TABLES].map((name) => `workflow_${name}`)],
    )
    if (rows.length > 0) {
      throw new Error(
        `Add to the TABLES of test/setup/tables.ts: ${rows.map(({ name }) => name).join(', ')}.`,
      )
    }
    this.#migrated.set(schema, (await this.#read(schema)).catalog)
  }

  /** Empties a schema that a test has left. Keeps it out of use if its tables are gone or somebody holds locks on them. */
  async giveBack(schema: string): Promise<void> {
    const migrated = this.#migrated.get(schema)
    if (this.#pool.ending || migrated === undefined) return
    const client = await this.#pool.connect()
    try {
      await client.query(`begin; set local lock_timeout = '100ms'; ${emptyTables(schema)}; commit`)
      this.#idle.push(schema)
    } catch {
      await client.query('rollback')
    } finally {
      client.release()
    }
  }

  async #isAsMigrated(schema: string): Promise<boolean> {
    const { catalog, isEmpty } = await this.#read(schema)
    return isEmpty && catalog === this.#migrated.get(schema)
  }

  async #read(schema: string): Promise<{ readonly catalog: string; readonly isEmpty: boolean }> {
    const rows = TABLES.map((table) => `exists (select from ${schema}.workflow_${table})`)
    const { rows: read } = await this.#pool.query<{ catalog: string; is_empty: boolean }>(
      `select md5(${CATALOG}::text || (select string_agg(m.xmin || m.tag, ',' order by m.tag) from ${schema}.workflow_migrations m)) as catalog,
        not (${rows.join(' or ')}) as is_empty`,
      [schema],
    )
    return { catalog: read[0]!.catalog, isEmpty: read[0]!.is_empty }
  }
}

/** Each change of an object writes its row anew, and so changes its xmin. What VACUUM and ANALYZE note is written in place. */
const CATALOG = `(select array_agg(object order by object) from (
  select 'schema ' || n.xmin || n.oid from pg_namespace n where n.oid = $1::regnamespace
  union all select 'relation ' || c.xmin || c.oid from pg_class c where c.relnamespace = $1::regnamespace
  union all select 'column ' || a.xmin || a.attrelid || ' ' || a.attnum from pg_attribute a
    join pg_class c on c.oid = a.attrelid where c.relnamespace = $1::regnamespace
  union all select 'constraint ' || o.xmin || o.oid from pg_constraint o where o.connamespace = $1::regnamespace
  union all select 'function ' || p.xmin || p.oid from pg_proc p where p.pronamespace = $1::regnamespace
  union all select 'trigger ' || t.xmin || t.oid from pg_trigger t
    join pg_class c on c.oid = t.tgrelid where c.relnamespace = $1::regnamespace
) objects (object))`
