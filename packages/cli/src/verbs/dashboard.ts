import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Call } from '../call.ts'
import { CliError, misused } from '../cli-error.ts'
import { OneTimeLink } from '../dashboard/one-time-link.ts'
import type { ExitStatus } from '../exit-status.ts'
import { actorOf } from '../runs/actor.ts'
import { definitionsOf } from '../store/definitions.ts'

/** `belay dashboard`: the dashboard for one person on this machine, until Ctrl-C. */
export async function run(call: Call): Promise<ExitStatus | undefined> {
  const { flags, out, signal } = call
  const { dashboard, toNodeHandler } = await loaded()
  const store = await call.connect()
  // Opens it: who opens a dashboard on a store that does not answer hears of it here.
  await store.now()
  const link = new OneTimeLink()
  const by = actorOf(call)
  const reads = flags.payloads === true ? (['payloads.read'] as const) : []
  const page = dashboard({
    engine: store.engine,
    title: store.place,
    workflows: definitionsOf(store),
    authorize: (request) =>
      link.isOpen(request.headers.get('cookie'))
        ? { by, can: flags['allow-writes'] === true ? 'all' : reads }
        : null,
  })
  const answer = toNodeHandler(page)
  const server = createServer((request, response) => {
    if (!link.answers(request, response)) answer(request, response)
  })
  const port = await listening(server, flags.port ?? 0)
  link.at(port)
  out.note(
    `${flags['allow-writes'] === true ? 'Reading and acting' : 'Reading only'}, as ${by}. The address works once; Ctrl-C ends it.`,
  )
  out.line(link.url)
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })
  server.close()
  server.closeAllConnections()
  return
}

async function loaded() {
  try {
    return await import('@belay/dashboard')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw misused('belay dashboard needs the package @belay/dashboard: npm install @belay/dashboard')
  }
}

function listening(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE'
      reject(
        isTaken ? new CliError(`Port ${port} is taken. Give another --port, or none.`, { status: 1 }) : error,
      )
    })
    if (port > 65_535) throw misused(`--port must be from 0 to 65535, got ${port}.`)
    // Only this machine: whoever reaches it from elsewhere goes through a tunnel of their own.
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
