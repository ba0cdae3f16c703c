import type { Identity, NewIdentity, Renewal, Renewed, Swept } from '@belay/workflow/store'
import { answerLate } from './mail.ts'
import { type LiveRow, placeAt, type Rows } from './rows.ts'

export function register(rows: Rows, identity: NewIdentity): Identity {
  rows.counters.worker += 1
  const { worker } = rows.counters
  const startedAt = rows.now()
  const leaseEndsAt = startedAt + identity.leaseMs
  rows.workers.set(worker, { ...identity, worker, epoch: 1, isAlive: true, busy: 0, leaseEndsAt, startedAt })
  return { worker, epoch: 1 }
}

const ownedBy = (rows: Rows, worker: number): readonly LiveRow[] =>
  [...rows.live.values()].filter(({ owner }) => owner === worker)

export function renew(rows: Rows, worker: number, { leaseMs, busy }: Renewal): Renewed {
  const row = rows.workers.get(worker)
  if (row?.isAlive !== true) return 'lost'
  rows.workers.set(worker, { ...row, busy, leaseEndsAt: rows.now() + leaseMs })
  const owned = ownedBy(rows, worker)
  const isPeer = (other: typeof row) =>
    other.worker !== worker &&
    other.isAlive &&
    other.slots > other.busy &&
    other.definitions.some((definition) => row.definitions.includes(definition))
  return {
    now: rows.now(),
    runs: owned.length,
    fences: owned.reduce((sum, { fence }) => sum + fence, 0),
    peers: [...rows.workers.values()].filter(isPeer).length,
  }
}

export function leave(rows: Rows, worker: number): void {
  const row = rows.workers.get(worker)
  if (row === undefined) return
  if (ownedBy(rows, worker).length === 0) rows.workers.delete(worker)
  else rows.workers.set(worker, { ...row, leaseEndsAt: Number.NEGATIVE_INFINITY })
}

export function bump(rows: Rows, worker: number): number | null {
  const row = rows.workers.get(worker)
  if (row?.isAlive !== true) return null
  rows.workers.set(worker, { ...row, epoch: row.epoch + 1 })
  return row.epoch + 1
}

export function sweep(rows: Rows): Swept {
  const now = rows.now()
  const silent = [...rows.workers.values()].filter(({ isAlive, leaseEndsAt }) => isAlive && leaseEndsAt < now)
  for (const row of silent) rows.workers.set(row.worker, { ...row, isAlive: false })
  let [runs, placed] = [0, 0]
  for (const live of [...rows.live.values()]) {
    const { run, owner, due, lead, place } = live
    if (owner !== null && rows.workers.get(owner)?.isAlive !== true) {
      rows.live.set(run, { ...live, owner: null, lost: true, due: now, place: placeAt(now, now, lead) })
      runs += 1
    } else if (owner === null && place === null && due <= now) {
      rows.live.set(run, { ...live, place: placeAt(now, due, lead) })
      placed += 1
    }
  }
  answerLate(rows)
  return { dead: silent.map(({ id }) => id), runs, placed }
}
