import { type PostgresServer, startPostgres } from '@belay/postgres-server'
import { afterAll, beforeAll } from 'vitest'
import { Program } from './program.ts'
import { startApplication, testApplication } from './web-application.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ major: 18, inMemory: true })
})
afterAll(() => server.stop())

/** What a person types after `node examples/frameworks/dist/`. Nest has a program of its own, because its modules make the engine. */
const PROGRAMS = {
  hono: ['main.js', 'hono'],
  express: ['main.js', 'express'],
  fastify: ['main.js', 'fastify'],
  nest: ['nest/main.js'],
} as const

for (const [framework, [file, ...args]] of Object.entries(PROGRAMS)) {
  testApplication(framework, async () => {
    const database = await server.createDatabase()
    const program = new Program(`../frameworks/dist/${file}`, args, { DATABASE_URL: database })
    return startApplication(program, { database, says: 'listens on' })
  })
}
