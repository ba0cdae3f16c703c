import { startPostgres } from '@belay/postgres-server'

const MAJORS = ['18', '14']
const [major = MAJORS[0]] = process.argv.slice(2)
if (major === undefined || !MAJORS.includes(major)) {
  console.error(
    `Unknown PostgreSQL version "${major}". There are ${MAJORS.join(' and ')}: npm run db -- ${MAJORS[1]}`,
  )
  process.exit(1)
}

const server = await startPostgres({ major: Number(major) })
console.log(`PostgreSQL ${major}, empty, gone when you press Ctrl-C:\n\n  ${server.url}\n`)

// The server's process must not outlive us, and a second signal must not cut its shutdown short.
let stopping = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, async () => {
    if (stopping) return
    stopping = true
    await server.stop()
    process.exit(0)
  })
}
setInterval(() => {}, 2 ** 30)
