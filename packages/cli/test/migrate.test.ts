import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { define } from '@belay/workflow'
import { migrate, postgres, postgresTransaction } from '@belay/workflow-postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

/** A schema without tables, and with them once it was migrated. */
function emptyStore() {
  const [url, schema] = [inject('serverUrl'), `cli_${randomBytes(5).toString('hex')}`]
  return { url, schema, env: { DATABASE_URL: url, BELAY_SCHEMA: schema } }
}

describe('belay migrate', () => {
  it('tells in a dry run what is pending, and changes nothing', async () => {
    const { env, url, schema } = emptyStore()

    const { stdout, stderr, status } = await belay(['migrate', '--dry-run'], { env, columns: 80 })

    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toBe('+ 0000_tables')
    expect(stderr).toBe(
      `${lines.length} migrations are pending; none stops older code. Nothing was changed.\n` +
        'To read them: belay migrate --dry-run --show-sql\n',
    )
    expect(status).toBe(0)
    expect((await migrate(url, { schema })).applied).toHaveLength(lines.length)
  })

  it('shows the statements, also in JSON', async () => {
    const { env, schema } = emptyStore()

    const sql = await belay(['migrate', '--dry-run', '--show-sql'], { env })
    const json = await belay(['migrate', '--dry-run', '--json'], { env })

    expect(sql.stdout).toContain(`CREATE SCHEMA IF NOT EXISTS "${schema}"`)
    expect(JSON.parse(json.stdout)).toMatchObject({ applied: [], stopsOlderCode: [] })
    expect(JSON.parse(json.stdout)).not.toHaveProperty('sql')
  })

  it('applies each once', async () => {
    const { env, schema } = emptyStore()

    const first = await belay(['migrate'], { env, columns: 80 })
    const second = await belay(['migrate', '--json'], { env })

    expect(first.stdout).toMatch(/^● 0000_tables\n(● \d{4}_[a-z_]+\n)+$/)
    expect(first.stderr).toBe(`Schema ${schema} is up to date.\n`)
    expect(JSON.parse(second.stdout)).toEqual({ applied: [] })
    expect([first.status, second.status]).toEqual([0, 0])
  })

  it('refuses what stops older code while a worker runs, and names the worker', async () => {
    const { env, url, schema, engine } = await testStore()
    // A schema as older code left it, as far as its list of migrations tells.
    const age = define('age', { version: 1 }).step('forget', {
      transaction: postgresTransaction(),
      run: async ({ tx }) => {
        await tx.client.query(`delete from "${schema}".workflow_migrations where tag >= '0005'`)
      },
    })
    const worker = engine({ workflows: [age], name: 'orders' })
    await worker.start()
    await (await worker.run(age)).result()

    const plan = await belay(['migrate', '--dry-run'], { env, columns: 80 })
    const { stdout, stderr, status } = await belay(['migrate'], { env, columns: 80 })

    expect(plan.stderr).toMatch(/pending; 0005_\w+ stops older code: stop all workers first\. Nothing/)
    expect(stdout).toBe('')
    const told = stderr.replaceAll('\n', ' ')
    expect(told).toMatch(
      new RegExp(
        `^Schema "${schema}" was not migrated: migration 0005_.* is running: orders on .*\\. Stop every`,
      ),
    )
    expect(told).toContain('Stop every process that uses Belay, then migrate.')
    expect(stderr).not.toContain('()')
    expect(status).toBe(1)
    const adapter = postgres(url, { schema })
    onTestFinished(() => adapter.close())
    expect((await adapter.planMigration()).pending.length).toBeGreaterThan(5)
  })

  it('makes a directory of PGlite, which no other verb does', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'belay-migrate-'))
    onTestFinished(() => rm(cwd, { recursive: true, force: true }))
    const url = ['--url', 'pglite:./data']

    const looked = await belay(['list', ...url], { cwd })
    const plan = await belay(['migrate', '--dry-run', ...url], { cwd })

    expect(looked.stderr).toBe(
      `There is no directory ${join(cwd, 'data')}: it is made by its program, or by migrate.\n  belay migrate\n`,
    )
    expect([looked.status, plan.status, existsSync(join(cwd, 'data'))]).toEqual([3, 3, false])
    expect((await belay(['migrate', ...url], { cwd })).status).toBe(0)
    expect((await belay(['list', ...url], { cwd })).stderr).toBe('There are no runs yet.\n')
  })

  it('shows no statements without a dry run', async () => {
    const { stderr, status } = await belay(['migrate', '--show-sql'])

    expect(stderr).toBe('--show-sql needs --dry-run.\n  belay migrate --dry-run --show-sql\n')
    expect(status).toBe(2)
  })
})
