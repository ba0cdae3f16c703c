import { type PostgresServer, startPostgres } from '@belay/postgres-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Program } from './program.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres({ major: 18, inMemory: true })
})
afterAll(() => server.stop())

test('on PostgreSQL, too, a killed import continues and keeps every promise', async () => {
  const start = () => new Program('start.js', ['--only', 'import'], { DATABASE_URL: server.url })
  const killed = start()
  await killed.says('load:PH-RE: failed for good')
  await killed.kill('SIGKILL')

  // Its lease expires first: a server shared by many cannot know that the process is gone.
  const { code, out, err } = await start().ended

  expect(code, out + err).toBe(0)
  expect(out).toContain('earlier start already finished edition-1: completed. It is not run again.')
  expect(out).toContain('Resuming edition-2, which an earlier start left')
  expect(out).toContain('Every promise was kept.')
})

test('on PostgreSQL, a killed tour is continued by the next one, by other workers', async () => {
  const url = await server.createDatabase()
  const start = (paceMs: number) => new Program('start.js', ['--pace', String(paceMs)], { DATABASE_URL: url })
  const killed = start(200)
  await killed.says('nothing moved, this key has paid')
  await killed.kill('SIGKILL')

  const { code, out, err } = await start(20).ended

  expect(code, out + err).toBe(0)
  expect(out).toContain('An earlier start began order-1-a. It goes on from there.')
  const [, first] = out.split(/^Order \d of 2/m)
  expect(first).not.toMatch(/(reserveStock|checkFraud): started/)
  expect(out).toContain('Every promise was kept.')
})
