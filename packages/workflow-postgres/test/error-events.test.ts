import { connect, createServer } from 'node:net'
import { createEngine, define } from '@belay/workflow'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresAdapter, postgres, postgresTransaction } from '../src/index.ts'
import { createDatabase, servers } from './setup/database.ts'

const workflowBehind = (gate: Promise<void>) =>
  define('fatal', { version: 1 })
    .step('plain', { run: () => gate.then(() => 1) })
    .step('transactional', {
      dependsOn: ['plain'],
      transaction: postgresTransaction(),
      retry: { retries: 50, initial: '1ms', max: '10ms' },
      run: async ({ tx }) => {
        await tx.client.query('select 1')
      },
    })

/** An error event without a listener ends the process. Here it is collected instead. */
function uncaught(): unknown[] {
  const errors: unknown[] = []
  const note = (error: unknown) => errors.push(error)
  process.on('uncaughtExceptionMonitor', note)
  onTestFinished(() => void process.off('uncaughtExceptionMonitor', note))
  return errors
}

describe.each(['Belay’s own pools', 'a Pool of the application’s'])(
  'a connection that the server closes together with its answer, in %s',
  (whose) => {
    it.each([1, 2, 3, 4])('does not end the process after answer %i', async (answers) => {
      const database = await createDatabase(servers[0]!.url)
      onTestFinished(() => database.drop())
      const way = await endingProxy(database.url, answers)
      const pool = whose.startsWith('a Pool') ? new pg.Pool({ connectionString: way.url }) : undefined
      const adapter: PostgresAdapter = postgres(pool ?? way.url, { autoMigrate: true })
      let open = () => {}
      const workflow = workflowBehind(new Promise((resolve) => (open = resolve)))
      const engine = createEngine({ adapter, workflows: [workflow], tick: '50ms' })
      onTestFinished(async () => {
        await engine.close()
        await pool?.end()
      })
      await engine.start()
      const errors = uncaught()
      const runs = await engine.runMany(
        workflow,
        Array.from({ length: 8 }, () => ({})),
      )

      // New connections for the engine's own statements, those of steps, and the lifeline.
      way.begin(20)
      await database.pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      open()

      expect(await Promise.all(runs.map((run) => run.result()))).toHaveLength(8)
      expect(way.ended()).toBeGreaterThan(5)
      expect(errors).toEqual([])
    })
  },
)

const READY = Buffer.from([0x5a, 0, 0, 0, 5])

/** A FATAL error as the server sends it. */
const FATAL = (() => {
  const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'
  const message = Buffer.alloc(5 + fields.length)
  message.write('E')
  message.writeUInt32BE(4 + fields.length, 1)
  message.write(fields, 5)
  return message
})()

/** Once it begins, this many connections end in the chunk that contains their nth answer. */
async function endingProxy(url: string, answers: number) {
  const target = new URL(url)
  let left = 0
  let ended = 0
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    const isDoomed = left > 0
    let seen = 0
    client.on('data', (bytes) => upstream.write(bytes))
    upstream.on('data', (bytes) => {
      if (bytes.includes(READY)) seen += 1
      if (!isDoomed || seen < answers || left === 0) return void client.write(bytes)
      left -= 1
      ended += 1
      client.end(Buffer.concat([bytes, FATAL]))
      upstream.destroy()
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroySoon())
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as { port: number }).port)
  return {
    url: through.href,
    ended: () => ended,
    begin(count: number) {
      left = count
    },
  }
}
