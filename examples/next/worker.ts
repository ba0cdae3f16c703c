import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import { type Engine, stopOnSignals } from '@belay/workflow'
import { belay } from './belay.ts'

/** Starts the engine of this process, so that it executes steps. */
export async function startWorker(): Promise<void> {
  await belay().engine.start()
  // Otherwise Next.js itself ends the process on a signal, and does not wait for the engine.
  if (process.env['NEXT_MANUAL_SIG_HANDLE']) stopWell()
}

function stopWell(): void {
  const servers = new Set<Server>()
  // Next.js does not hand out its server, but Node names the server of each request.
  subscribe('http.server.request.start', (message) => servers.add((message as { server: Server }).server))

  // First the streams, for which the server waits; then the server, whose last requests still need the engine; then the engine.
  const all = {
    async close(options: Parameters<Engine['close']>[0]) {
      const { engine, stopping } = belay()
      stopping.abort()
      await Promise.all(Array.from(servers, (server) => new Promise((closed) => server.close(closed))))
      await engine.close(options)
    },
  }
  stopOnSignals(all, process, { timeout: '20s' })
}
