import type { NewWorker, Peers, Renewal, Renewed } from '@belay/workflow/adapter'
import { hostName } from '../base/host-name.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { held } from './read-state.ts'

/** Registers a worker. A live one gets a fresh lease; a dead one stays dead. Index: primary key. Locks: the worker's row. */
export const insertWorker: Statement<{ readonly id: string }> = {
  name: 'insert_worker',
  text: `
insert into belay.workflow_workers as w
  (id, name, status, lease_expires_at, started_at, renewed_at, slots, host, definition_ids, journaled)
values ($1::uuid, $2::text, 'live', belay.store_now() + $3::float8 * interval '1 millisecond', belay.store_now(), belay.store_now(),
  $4::int, $5::text, $6::int[], true)
on conflict (id) do update
set name = excluded.name, lease_expires_at = excluded.lease_expires_at, renewed_at = excluded.renewed_at, slots = excluded.slots,
  host = excluded.host, definition_ids = excluded.definition_ids
where w.status = 'live'
returning w.id`,
}

/**
 * Extends a worker's lease, and with it the lease of every step it holds. Guarantee: a worker that was declared dead stays dead; a worker whose lease
 * expired but that was not declared dead yet continues. Index: primary key. It writes no indexed column, so the new version of the row stays on its
 * page. Locks: the worker's row.
 */
export const renewWorker: Statement<{
  readonly peer_definition_ids: readonly number[]
  readonly peer_counts: readonly number[]
  readonly peer_ranks: readonly number[]
  readonly renewed_at: number
  readonly renewed_before: number
}> = {
  name: 'renew_worker',
  text: `
with renewed_worker as (
  update belay.workflow_workers w
  set lease_expires_at = belay.store_now() + $2::float8 * interval '1 millisecond', renewed_at = belay.store_now(),
    busy = coalesce($3::int, w.busy), known = $4::int
  from belay.workflow_workers before
  where w.id = $1::uuid and w.status = 'live' and before.id = w.id
  returning w.id, w.definition_ids, (extract(epoch from w.renewed_at) * 1000)::float8 as renewed_at,
    (extract(epoch from coalesce(before.renewed_at, before.started_at)) * 1000)::float8 as renewed_before
),
peers as (
  select own.definition_id, (count(*))::int as count, (count(*) filter (where other.id < renewed.id))::int as rank
  from renewed_worker renewed
  cross join lateral unnest(renewed.definition_ids) as own (definition_id)
  join belay.workflow_workers other
    on other.id = renewed.id
    or (other.status = 'live' and coalesce(other.busy, 0) < coalesce(other.slots, 1)
      and other.definition_ids @> array[own.definition_id])
  group by own.definition_id
)
select renewed_worker.renewed_at, renewed_worker.renewed_before, coalesce(p.definition_ids, '{}') as peer_definition_ids, coalesce(p.counts, '{}') as peer_counts,
  coalesce(p.ranks, '{}') as peer_ranks
from renewed_worker
cross join (
  select array_agg(peers.definition_id order by peers.definition_id) as definition_ids,
    array_agg(peers.count order by peers.definition_id) as counts,
    array_agg(peers.rank order by peers.definition_id) as ranks
  from peers
) p`,
}

/**
 * Removes the journals of workers that are gone: code older than the journals forgot a worker without its journal. No lease can be lost: a journal
 * row is never seen without the worker that wrote it, unless that worker is gone. Index: primary keys. Locks: journal rows that nobody uses.
 */
export const deleteOrphanedLeases: Statement<{ readonly id: string }> = {
  name: 'delete_orphaned_leases',
  text: `
delete from belay.workflow_leases l
where not exists (select from belay.workflow_workers w where w.id = l.worker_id)
returning l.id::text as id`,
}

/**
 * Locks the row of a worker that leaves, unless one of its statements is still under way. Index: primary key. Locks: the worker's row, skipping a
 * locked one.
 */
export const lockLeaving: Statement<{ readonly id: string }> = {
  name: 'lock_leaving',
  text: `
select w.id from belay.workflow_workers w
where w.id = $1::uuid and w.status = 'live' and w.lease_expires_at = '-infinity'
for update skip locked`,
}

/** Ends the lease of a worker that leaves. Index: primary key. Locks: the worker's row. */
export const endLease: Statement<{ readonly id: string }> = {
  name: 'end_lease',
  text: `
update belay.workflow_workers
set lease_expires_at = '-infinity'
where id = $1::uuid and status = 'live'
returning id`,
}

/**
 * Forgets a worker whose lease was ended, with its journal. If it was declared dead meanwhile, the sweep handles it. Index: primary keys. Locks: the
 * worker's row, its journal.
 */
export const deleteWorker: Statement<{ readonly id: string }> = {
  name: 'delete_worker',
  text: `
with deleted_worker as (
  delete from belay.workflow_workers
  where id = $1::uuid and status = 'live' and lease_expires_at = '-infinity'
  returning id
),
deleted_leases as (
  delete from belay.workflow_leases l
  using deleted_worker d
  where l.worker_id = any (array[d.id])
)
select id from deleted_worker`,
}

/** Ends the lease of every live worker, for a store that a single process owns and has just opened. Locks: all workers' rows. */
export const expireWorkers: Statement<{ readonly id: string }> = {
  name: 'expire_workers',
  text: `
update belay.workflow_workers
set lease_expires_at = belay.store_now()
where status = 'live'
returning id`,
}

export async function register(connection: Connection, worker: NewWorker): Promise<void> {
  const { workerId, name, leaseMs, slots = null, host = hostName(), definitionIds = null } = worker
  await connection.query(insertWorker, [workerId, name, leaseMs, slots, host, definitionIds])
  await connection.query(deleteOrphanedLeases, [])
}

export async function renew(connection: Connection, renewal: Renewal): Promise<Renewed | 'lost'> {
  const { workerId, leaseMs, busy = null, known = null } = renewal
  const [row] = await connection.query(renewWorker, [workerId, leaseMs, busy, known])
  if (row === undefined) return 'lost'
  const { peer_definition_ids: ids, peer_counts: counts, peer_ranks: ranks } = row
  const peers = ids.map((definitionId, at): Peers => ({ definitionId, count: counts[at]!, rank: ranks[at]! }))
  return { peers, renewedAt: row.renewed_at, renewedBefore: row.renewed_before }
}

/**
 * Forgets a worker that holds nothing. A worker may leave while it holds steps, or while one of its statements may still lease some. Then it is not
 * forgotten, so that its steps are not lost: its lease is ended, and the next sweep returns its steps to the queue.
 */
export async function deregister(connection: Connection, worker: { workerId: string }): Promise<void> {
  const { workerId } = worker
  await connection.query(endLease, [workerId])
  await connection.transaction(async (transaction) => {
    // Statements that lease steps to it share this lock: from here on none is under way, and earlier leases are visible.
    const [locked] = await transaction.query(lockLeaving, [workerId])
    if (locked === undefined) return
    const steps = await held(transaction, worker)
    if (steps.length === 0) await transaction.query(deleteWorker, [workerId])
  })
}
