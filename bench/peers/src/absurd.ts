import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Peer } from '@belay/bench/peer'
import { Absurd } from 'absurd-sdk'
import pg from 'pg'

const CONCURRENCY = 100
const POOL = 20
const SCHEMA = '0.5.0'

/** Settings: https://earendil-works.github.io/absurd/sdks/typescript/, "Starting a Worker". */
export function createPeer(): Peer {
  let app: Absurd
  let pool: pg.Pool

  return {
    stepsPerRun: 3,
    settings: `concurrency and batchSize ${CONCURRENCY}, pollInterval 10 ms, ${POOL} connections`,
    countOpen: `select count(*) from absurd.t_default where state <> 'completed'`,
    async prepare(setup) {
      pool = new pg.Pool({ connectionString: setup.url, max: POOL })
      await installSchema(setup.url, pool)
      app = new Absurd({ db: pool, log: { log() {}, info() {}, warn() {}, error() {} } })
      app.registerTask({ name: 'chain' }, async (_params, context) => {
        await context.step('a', async () => 1)
        await context.step('b', async () => 2)
        await context.step('c', async () => {
          setup.lastStepRan()
          return 3
        })
        return 3
      })
      await app.createQueue('default')
    },
    async startWorker() {
      await app.startWorker({ concurrency: CONCURRENCY, batchSize: CONCURRENCY, pollInterval: 0.01 })
    },
    async startRun() {
      await app.spawn('chain', {})
    },
    async close() {
      await app.close()
      await pool.end()
    },
  }
}

// The npm package holds no SQL: https://earendil-works.github.io/absurd/database/
async function installSchema(url: string, pool: pg.Pool): Promise<void> {
  const file = process.env['ABSURD_SQL']
  if (file !== undefined) {
    await pool.query(readFileSync(file, 'utf8'))
    return
  }
  try {
    execFileSync('absurdctl', ['init', '--database', url], { stdio: 'ignore' })
  } catch {
    throw new Error(
      `its schema is not on npm: install absurdctl (uv tool install absurdctl==${SCHEMA}), or set ABSURD_SQL to sql/absurd.sql of release ${SCHEMA}`,
    )
  }
}
