import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { postgres } from '@belay/workflow-postgres'

const LEASE_MS = 30_000
const RENEW_EVERY_MS = LEASE_MS / 3
const TURN_MS = 20

export interface Heartbeats {
  /** Renews the lease of each worker every 10 s, evenly spread, with one statement each, as real workers do. Resolves to the number of renewals. */
  renewUntil(signal: AbortSignal): Promise<number>
  close(): Promise<void>
}

/** Registers many workers that hold nothing. */
export async function registerSimulatedWorkers(url: string, workers: number): Promise<Heartbeats> {
  const adapter = postgres(url, { connectionsMax: 2, listen: false })
  const ids = Array.from({ length: workers }, () => randomUUID())
  await adapter.open()
  await Promise.all(
    ids.map((workerId) => adapter.registerWorker({ workerId, name: 'simulated', leaseMs: LEASE_MS })),
  )
  return {
    renewUntil: (signal) =>
      renewInTurn(ids, { signal, renew: (workerId) => adapter.renew({ workerId, leaseMs: LEASE_MS }) }),
    close: () => adapter.close(),
  }
}

async function renewInTurn(
  ids: readonly string[],
  given: { signal: AbortSignal; renew: (id: string) => Promise<unknown> },
): Promise<number> {
  const since = performance.now()
  let renewed = 0
  while (!given.signal.aborted) {
    const due = Math.floor(((performance.now() - since) / RENEW_EVERY_MS) * ids.length)
    // If a busy database delays them, never sends more at once than there are workers.
    const batch = Math.min(due - renewed, ids.length)
    await Promise.all(Array.from({ length: batch }, (_, n) => given.renew(ids[(renewed + n) % ids.length]!)))
    renewed += batch
    await delay(TURN_MS, undefined, { signal: given.signal }).catch(() => {})
  }
  return renewed
}
