import './require-node.mjs'
import { installIfNeeded } from './install.mjs'

/** @type {Readonly<Record<string, 14 | 18>>} */
const MAJORS = { 14: 14, 18: 18 }
const asked = process.argv[2] ?? '18'
const major = MAJORS[asked]
if (major === undefined) {
  console.error(
    `There is no PostgreSQL ${asked} here. Ask for one of ${Object.keys(MAJORS).join(', ')}: npm run db -- 14`,
  )
  process.exit(1)
}

await installIfNeeded()
const { startPostgres } = await import('@belay/postgres-server')
const server = await startPostgres({ major })
console.log(`PostgreSQL ${major}, empty, gone when you press Ctrl-C:\n\n  ${server.url}\n`)

// The server's process must not outlive us, and a second signal must not cut its shutdown short.
const forever = setInterval(() => {}, 2 ** 30)
let stopping = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, async () => {
    if (stopping) return
    stopping = true
    await server.stop()
    clearInterval(forever)
  })
}
