import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { startPostgres } from '@belay/postgres-server'
import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { type DrainResult, drain } from './drain.ts'
import { median, quantile, spread, whole } from './figures.ts'
import { comparePeers } from './peers/compare.ts'
import { measureReference, prepareReference, type Reference } from './reference.ts'
import { chain, WORKLOADS, type Workload } from './workloads.ts'

const HELP = `Measures Belay on PostgreSQL, next to single-row updates on the same server in the same run.

  npm run bench              three rounds of each workload, 500 single runs, 20 s of idling; about 2 minutes
  npm run bench -- --quick   one short round: shows that it works, not how fast it is
  npm run bench -- --peers   instead: Belay and other systems by turns, about 15 minutes (with --quick about 2). The first time it
                             installs them into bench/peers/node_modules (about 35 MB), where npm start and npm test never look.
                             absurd's schema isn't on npm: have absurdctl on the PATH, or ABSURD_SQL name the file.

DATABASE_URL measures that server instead of a PostgreSQL 18 from npm with durable settings.
The database needs to be empty: the benchmark makes tables and schemas in it.`

// What people set on a small production server; durability is left as it is by default: on.
const SETTINGS = { shared_buffers: '1GB', max_wal_size: '4GB', checkpoint_timeout: '30min' }

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (flags.help) console.log(HELP)
else await main(flags)

async function main({ quick, peers }: { quick: boolean; peers: boolean }): Promise<void> {
  const rounds = quick ? 1 : 3
  const server = process.env['DATABASE_URL']
    ? undefined
    : await startPostgres({ major: 18, durable: true, settings: SETTINGS })
  const url = process.env['DATABASE_URL'] ?? (await server!.createDatabase())
  try {
    await describe(url)
    if (peers) return await comparePeers({ url, quick })
    await prepareReference(url)
    const references: Reference[] = []
    const drained = new Map<Workload, Drained[]>(WORKLOADS.map((workload) => [workload, []]))
    for (let round = 1; round <= rounds; round += 1) {
      for (const [number, workload] of WORKLOADS.entries()) {
        const reference = await measureReference(url, quick ? 2 : 5)
        const schema = `belay_${round}_${number}`
        const result = await drain({
          url,
          schema,
          workload,
          runs: quick ? workload.runs / 10 : workload.runs,
        })
        console.log(`round ${round}   ${workload.name}: ${whole(result.stepsPerSecond)} steps/s`)
        references.push(reference)
        drained.get(workload)!.push({ ...result, ratio: result.stepsPerSecond / reference.updatesPerSecond })
      }
    }
    const latency = await measureLatency(url, quick ? 50 : 500)
    const idle = await measureIdle(url, quick ? 3_000 : 20_000)
    const by = references[0]!.by
    console.log(`
| measured | median (min to max of ${rounds} ${rounds === 1 ? 'round' : 'rounds'}) |
|---|---|
| reference: single-row updates/s (${by}, 4 clients) | ${spread(references.map((r) => r.updatesPerSecond))} |
${WORKLOADS.map((workload) => rowsOf(workload, drained.get(workload)!)).join('\n')}
| idle latency of one 3-step run, \`run()\` to \`run.completed\`: p50 / p95 / p99 ms | ${latency.completed} |
| the same to \`result()\` | ${latency.result} |
| statements/s of an idle worker (transactions the server counted) | ${idle.toFixed(1)} |`)
  } finally {
    await server?.stop()
  }
}

type Drained = DrainResult & { readonly ratio: number }

function rowsOf({ name, what }: Workload, results: readonly Drained[]): string {
  const ratios = results.map(({ ratio }) => ratio)
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  return [
    `| ${name}, ${what}/s | ${spread(results.map(({ stepsPerSecond }) => stepsPerSecond))} |`,
    `| … as a multiple of the reference | ${median(ratios).toFixed(2)} (${range}) |`,
    `| … runs started/s by \`runMany()\` | ${spread(results.map(({ startsPerSecond }) => startsPerSecond))} |`,
  ].join('\n')
}

async function describe(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(
    `select current_setting('server_version') as version, string_agg(name || '=' || current_setting(name), ' ' order by name) as settings
     from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size')`,
  )
  await client.end()
  const memoryGiB = Math.round(totalmem() / 1024 ** 3)
  console.log(`machine   ${cpus().length} × ${cpus()[0]?.model.trim()}, ${memoryGiB} GiB`)
  console.log(`versions  node ${process.versions.node}, PostgreSQL ${rows[0].version}`)
  console.log(`settings  ${rows[0].settings}`)
}

async function measureLatency(url: string, runs: number): Promise<{ completed: string; result: string }> {
  const engine = createEngine({
    adapter: postgres(url, { autoMigrate: true, schema: 'belay_latency' }),
    workflows: [chain],
  })
  await engine.start()
  const completed: number[] = []
  const result: number[] = []
  const warmUp = 20
  for (let n = -warmUp; n < runs; n += 1) {
    const startedAt = performance.now()
    const done = new Promise<number>((resolve) => {
      const off = engine.on('run.completed', () => {
        off()
        resolve(performance.now() - startedAt)
      })
    })
    const run = await engine.run(chain, undefined)
    await run.result()
    if (n < 0) continue
    result.push(performance.now() - startedAt)
    completed.push(await done)
  }
  await engine.close()
  return { completed: percentiles(completed), result: percentiles(result) }
}

async function measureIdle(url: string, ms: number): Promise<number> {
  const engine = createEngine({
    adapter: postgres(url, { autoMigrate: true, schema: 'belay_idle' }),
    workflows: [chain],
  })
  await engine.start()
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const before = await transactions(url)
  await new Promise((resolve) => setTimeout(resolve, ms))
  const after = await transactions(url)
  await engine.close()
  return (after.count - before.count) / ((after.at - before.at) / 1_000)
}

async function transactions(url: string): Promise<{ count: number; at: number }> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(
    'select (xact_commit + xact_rollback)::float8 as count, extract(epoch from clock_timestamp())::float8 * 1000 as at from pg_stat_database where datname = current_database()',
  )
  await client.end()
  return rows[0]
}

function percentiles(sample: readonly number[]): string {
  return [0.5, 0.95, 0.99].map((share) => quantile(sample, share).toFixed(1)).join(' / ')
}
