// Measures what a migration locks, and for how long, on a schema full of finished runs. Prints a Markdown table for docs/upgrading.md.
//   node packages/workflow-postgres/scripts/measure-migration.mjs --runs 10000000
// It takes a server of its own, and about 1.2 GB of disk for a million runs; DATABASE_URL names an empty database to use instead.
import { parseArgs } from 'node:util'
import { startPostgres } from '@belay/postgres-server'
import pg from 'pg'
import { statementsOf } from '../dist/migrate/migration.js'
import { MIGRATIONS } from '../dist/migrate/migrations.generated.js'
import { fillWithFinishedRuns } from './finished-runs.mjs'

/** The last migration that the schema has had when it is filled. */
const FILLED_AT = 4

/** What a migration that stops nobody may do: the last two statements run on their own, outside a transaction. */
const ADDITIVE = `
ALTER TABLE "belay"."workflow_runs" ADD COLUMN "region" text;
--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD COLUMN "weight" integer DEFAULT 1 NOT NULL;
--> statement-breakpoint
ALTER TABLE "belay"."workflow_steps" ADD CONSTRAINT "weight_counts" CHECK ("weight" > 0) NOT VALID;`
const OUTSIDE = `
ALTER TABLE "belay"."workflow_steps" VALIDATE CONSTRAINT "weight_counts";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "workflow_runs_next_idx" ON "belay"."workflow_runs" USING btree ("workflow", "id");`

const LOCKS = `
select distinct c.relname || ': ' || l.mode as lock
from pg_catalog.pg_locks l
join pg_catalog.pg_class c on c.oid = l.relation
where l.pid = $1 and l.granted and l.locktype = 'relation' and c.relkind = 'r' and c.relnamespace = 'belay'::regnamespace
  and l.mode in ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
order by 1`

const LOOK_EVERY_MS = 20

async function main() {
  const { values } = parseArgs({ options: { runs: { type: 'string', default: '1000000' } } })
  const given = process.env['DATABASE_URL']
  const server =
    given === undefined ? await startPostgres({ major: 18, durable: true, settings: SETTINGS }) : null
  const url = given ?? /** @type {{ url: string }} */ (server).url
  const [client, watcher] = await Promise.all([connect(url), connect(url)])
  try {
    for (const { sql } of MIGRATIONS.slice(0, FILLED_AT + 1)) await client.query(sql)
    await fillWithFinishedRuns(client, Number(values.runs), console.error)
    for (const migration of MIGRATIONS.slice(FILLED_AT + 1)) {
      await printTogether(client, migration.tag, statementsOf(migration))
    }
    await printTogether(client, 'an additive migration', statementsOf({ sql: ADDITIVE }))
    await printOutside(client, watcher, statementsOf({ sql: OUTSIDE }))
  } finally {
    await Promise.all([client.end(), watcher.end()])
    await server?.stop()
  }
}

/** As `migrate()` finds a server: a cache of some size, and otherwise what PostgreSQL brings along. */
const SETTINGS = { shared_buffers: '1GB', max_wal_size: '8GB' }

/** @param {string} url */
async function connect(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

/**
 * Statements of one transaction, which keeps every lock until its end.
 * @param {pg.Client} client
 * @param {string} title
 * @param {readonly string[]} statements
 */
async function printTogether(client, title, statements) {
  printHead(title)
  /** @type {ReadonlySet<string>} */
  let before = new Set()
  const begun = performance.now()
  await client.query('begin')
  for (const statement of statements) {
    const ms = await timed(() => client.query(statement))
    const locks = await locksOf(client, client)
    printRow(
      statement,
      ms,
      [...locks].filter((lock) => !before.has(lock)),
    )
    before = locks
  }
  await client.query('commit')
  console.log(`| all of it, until the commit | | ${(performance.now() - begun).toFixed(0)} |`)
}

/**
 * Statements that are a transaction each. Their locks are seen from another session, while they run.
 * @param {pg.Client} client
 * @param {pg.Client} watcher
 * @param {readonly string[]} statements
 */
async function printOutside(client, watcher, statements) {
  printHead('outside a transaction')
  for (const statement of statements) {
    const locks = new Set()
    const look = async () => {
      for (const lock of await locksOf(client, watcher)) locks.add(lock)
    }
    let isOver = false
    const ms = timed(() => client.query(statement)).finally(() => (isOver = true))
    while (!isOver) {
      await look()
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
    printRow(statement, await ms, [...locks])
  }
}

/**
 * @param {pg.Client} client whose locks
 * @param {pg.Client} over who asks
 */
async function locksOf(client, over) {
  const { processID } = /** @type {{ processID: number }} */ (/** @type {unknown} */ (client))
  const { rows } = await over.query(LOCKS, [processID])
  return new Set(rows.map(({ lock }) => /** @type {string} */ (lock)))
}

/** @param {() => Promise<unknown>} run */
async function timed(run) {
  const begun = performance.now()
  await run()
  return performance.now() - begun
}

/** @param {string} title */
function printHead(title) {
  console.log(`\n${title}\n\n| statement | locks it adds | ms |\n|---|---|---|`)
}

/**
 * @param {string} statement
 * @param {number} ms
 * @param {readonly string[]} locks
 */
function printRow(statement, ms, locks) {
  const text = statement
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/"belay"\.|"/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .trim()
  console.log(`| \`${text.slice(0, 100)}\` | ${locks.join(', ')} | ${ms.toFixed(0)} |`)
}

await main()
