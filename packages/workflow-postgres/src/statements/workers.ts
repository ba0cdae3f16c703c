import type { NewWorker, Peers, Renewal, Renewed } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { hostName } from '../host-name.ts'
import { held } from './read-state.ts'

/** Registers a worker. A live one gets a fresh lease; a dead one stays dead. Index: primary key. Locks: the worker's row. */
export const insertWorker: Statement<{ readonly id: string }> = {
  name: 'insert_worker',
  text: `
insert into belay.workflow_workers as w
  (id, name, status, lease_expires_at, started_at, renewed_at, slots, host, definition_ids)
values ($1::uuid, $2::text, 'live', belay.store_now() + $3::float8 * interval '1 millisecond', belay.store_now(), belay.store_now(),
  $4::int, $5::text, $6::int[])
on conflict (id) do update
set name = excluded.name, lease_expires_at = excluded.lease_expires_at, renewed_at = excluded.renewed_at, slots = excluded.slots,
  host = excluded.host, definition_ids = excluded.definition_ids
where w.status = 'live'
returning w.id`,
}

/**
 * Extends a worker's lease, and with it every step the worker holds. Guarantee: a worker that was declared dead stays dead; one that
 * expired but was not declared dead yet lives on. Index: primary key; it writes no column that any index has, so the new version of the row
 * stays on its page. Locks: the worker's row.
 */
export const renewWorker: Statement<{
  readonly peer_definition_ids: readonly number[]
  readonly peer_counts: readonly number[]
  readonly peer_ranks: readonly number[]
}> = {
  name: 'renew_worker',
  text: `
with renewed_worker as (
  update belay.workflow_workers
  set lease_expires_at = belay.store_now() + $2::float8 * interval '1 millisecond', renewed_at = belay.store_now(),
    busy = coalesce($3::int, busy)
  where id = $1::uuid and status = 'live'
  returning id, definition_ids
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
select coalesce(p.definition_ids, '{}') as peer_definition_ids, coalesce(p.counts, '{}') as peer_counts,
  coalesce(p.ranks, '{}') as peer_ranks
from renewed_worker
cross join (
  select array_agg(peers.definition_id order by peers.definition_id) as definition_ids,
    array_agg(peers.count order by peers.definition_id) as counts,
    array_agg(peers.rank order by peers.definition_id) as ranks
  from peers
) p`,
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

/** Forgets a worker whose lease was ended. One that was declared dead meanwhile is the sweep's. Locks: the worker's row. */
export const deleteWorker: Statement<{ readonly id: string }> = {
  name: 'delete_worker',
  text: `
delete from belay.workflow_workers
where id = $1::uuid and status = 'live' and lease_expires_at = '-infinity'
returning id`,
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
}

export async function renew(connection: Connection, renewal: Renewal): Promise<Renewed | 'lost'> {
  const { workerId, leaseMs, busy = null } = renewal
  const [row] = await connection.query(renewWorker, [workerId, leaseMs, busy])
  if (row === undefined) return 'lost'
  const { peer_definition_ids: ids, peer_counts: counts, peer_ranks: ranks } = row
  const peers = ids.map((definitionId, at): Peers => ({ definitionId, count: counts[at]!, rank: ranks[at]! }))
  return { peers }
}

/**
 * Forgets a worker that holds nothing. One that leaves while it holds steps must not take them with it: its lease is at an end, and the
 * next sweep gives them back.
 */
export async function deregister(connection: Connection, worker: { workerId: string }): Promise<void> {
  await connection.query(endLease, [worker.workerId])
  const steps = await held(connection, worker)
  if (steps.length === 0) await connection.query(deleteWorker, [worker.workerId])
}
