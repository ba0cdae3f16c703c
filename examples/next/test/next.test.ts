import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type PostgresServer, startPostgres } from '@belay/postgres-server'
import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { Program } from '../../test/program.ts'
import { startApplication, testApplication, workersOf } from '../../test/web-application.ts'

const application = fileURLToPath(new URL('..', import.meta.url))
const PRODUCTION = { NODE_ENV: 'production', NEXT_MANUAL_SIG_HANDLE: 'true' }
const LOCALLY = ['--port', '0', '--hostname', '127.0.0.1'] as const

/** A command of Next.js in a process of its own. It gives Node's flags to processes that refuse them, so it gets none. */
function next(args: readonly string[], environment: Readonly<Record<string, string>>): Program {
  const file = '../next/node_modules/next/dist/bin/next'
  return new Program(file, args, { NEXT_TELEMETRY_DISABLED: '1', ...environment }, [])
}

let server: PostgresServer
let databaseOfBuild: string

beforeAll(async () => {
  server = await startPostgres({ major: 18 })
  databaseOfBuild = await server.createDatabase()
  // Types that a killed `next dev` wrote would fail the build.
  rmSync(join(application, '.next'), { recursive: true, force: true })
  const build = next(['build', application], { ...PRODUCTION, DATABASE_URL: databaseOfBuild })
  const { code, out, err } = await build.ended
  expect(code, `${out}\n${err}`).toBe(0)
})
afterAll(() => server.stop())

test('the build starts no worker, and reaches no database', async () => {
  await using engine = createEngine({ adapter: postgres(databaseOfBuild) })

  await expect(engine.workers.list()).rejects.toMatchObject({ code: 'schema_missing' })
})

testApplication('next', async () => {
  const database = await server.createDatabase()
  const program = next(['start', application, ...LOCALLY], { ...PRODUCTION, DATABASE_URL: database })
  return startApplication(program, { database, says: 'Ready in' })
})

test('in development a process keeps its engine and its worker when a module is loaded anew', async () => {
  const copy = copyOfApplication()
  edit(copy, 'belay.ts', 'createEngine({', "(console.log('makes an engine'), createEngine)({")
  const database = await server.createDatabase()
  const program = next(['dev', copy, ...LOCALLY], { NODE_ENV: 'development', DATABASE_URL: database })
  const { url, post } = await startApplication(program, { database, says: 'Ready in' })
  // It has a process of its own for the server, which it ends on this signal only.
  onTestFinished(async () => {
    await program.kill('SIGTERM')
  })
  const before = await post('/orders/o1', { item: 'rope' })

  edit(copy, 'belay.ts', 'const kept', "console.log('loaded anew')\nconst kept")
  await expect
    .poll(async () => {
      await (await fetch(`${url}/runs/01920000-0000-7000-8000-000000000000`)).text()
      return program.output
    })
    .toContain('loaded anew')
  const after = await post('/orders/o2', { item: 'rope' })
  const { runId } = (await after.json()) as { runId: string }
  const changes = await (await fetch(`${url}/runs/${runId}/changes`)).text()

  expect([before.status, after.status]).toEqual([202, 202])
  expect(changes).toContain('event: end')
  expect(await workersOf(database)).toBe(1)
  expect(program.output.match(/makes an engine/g)).toHaveLength(1)
})

/** A copy that the test may change. It lies as deep in the repository as the application, and git ignores it. */
function copyOfApplication(): string {
  const copy = fileURLToPath(new URL('../../../.belay/next', import.meta.url))
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(copy, { recursive: true })
  const copied = readdirSync(application).filter((name) => !['node_modules', '.next', 'test'].includes(name))
  for (const name of copied) cpSync(join(application, name), join(copy, name), { recursive: true })
  symlinkSync(join(application, 'node_modules'), join(copy, 'node_modules'), 'dir')
  return copy
}

function edit(folder: string, file: string, from: string, to: string): void {
  const text = readFileSync(join(folder, file), 'utf8')
  expect(text).toContain(from)
  writeFileSync(join(folder, file), text.replace(from, to))
}
