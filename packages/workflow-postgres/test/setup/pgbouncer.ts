import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect as connectTo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'

/** Debian's path; BELAY_PGBOUNCER names another one. Undefined if it is not installed. */
export const pgbouncerBinary = [process.env['BELAY_PGBOUNCER'], '/usr/sbin/pgbouncer'].find(
  (path) => path !== undefined && existsSync(path),
)

/** Starts PgBouncer in front of a database. */
export async function startPgbouncer(url: string, poolMode: 'transaction' | 'session') {
  const target = new URL(url)
  const folder = await mkdtemp(join(tmpdir(), 'belay-pgbouncer-'))
  const port = await freePort()
  const config = join(folder, 'pgbouncer.ini')
  const password = target.password === '' ? '' : ` password=${decodeURIComponent(target.password)}`
  await writeFile(
    config,
    `[databases]
* = host=${target.hostname} port=${target.port || 5432} user=${decodeURIComponent(target.username)}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
default_pool_size = 20
`,
  )
  // It refuses to run as root, and must be able to read its file.
  await chmod(folder, 0o755)
  await chmod(config, 0o644)
  const child = spawn(pgbouncerBinary!, ['-q', config], { stdio: 'ignore', ...(await unprivileged()) })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await accepts(port)
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(port)
  return {
    url: through.href,
    async stop() {
      child.kill('SIGQUIT')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function unprivileged() {
  if (process.getuid?.() !== 0) return {}
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const nobody = users.find(([name]) => name === 'nobody')
  return { uid: Number(nobody?.[2]), gid: Number(nobody?.[3]) }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

async function accepts(port: number): Promise<void> {
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connectTo(port, '127.0.0.1')
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  await vi.waitUntil(isOpen, { timeout: 10_000, interval: 20 })
}
