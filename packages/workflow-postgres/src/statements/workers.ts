import type { Identity, NewIdentity, Renewal, Renewed } from '@belay/workflow/store'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { msOf } from './query.ts'

const lease = (ms: string) => `belay.store_now() + ${ms}::float8 * interval '1 millisecond'`

/** A new identity with a lease. Locks: its new row. */
const insertWorker: Statement<{ readonly number: number; readonly epoch: number }> = {
  name: null,
  text: `
insert into belay.workflow_workers (id, name, host, slots, definition_ids, lease_expires_at, started_at, renewed_at)
values ($1::uuid, $2::text, $3::text, $4::int, $5::int[], ${lease('$6')}, belay.store_now(), belay.store_now())
returning number, epoch`,
}

/** Prolongs a lease, and tells what the worker owns. Index: primary key, live by owner. Locks: the worker’s row, for no key: it meets no commit. */
const renewWorker: Statement<{
  readonly now: number
  readonly runs: number
  readonly fences: number
  readonly peers: number
}> = {
  name: null,
  text: `
with renewed_worker as (
  update belay.workflow_workers
  set lease_expires_at = ${lease('$2')}, renewed_at = belay.store_now(), busy = $3::int
  where number = $1::int and alive
  returning number, definition_ids
)
select ${msOf('belay.store_now()')} as now, owned.runs, owned.fences,
  (select count(*)::int from belay.workflow_workers p
    where p.number <> w.number and p.alive and p.slots > p.busy and p.definition_ids && w.definition_ids) as peers
from renewed_worker w
cross join lateral (
  select count(*)::int as runs, coalesce(sum(l.fence), 0)::float8 as fences from belay.workflow_live l where l.owner = w.number
) owned`,
}

/** Waits for the worker’s statements under way, and shuts out later ones. Index: primary key. Locks: the worker’s row, for update. */
const bumpWorker: Statement<{ readonly epoch: number }> = {
  name: null,
  text: `
with locked_worker as materialized (
  -- A plain update would not meet the key share of a commit.
  select number from belay.workflow_workers where number = $1::int and alive for update
)
update belay.workflow_workers w set epoch = w.epoch + 1 from locked_worker x where w.number = x.number returning w.epoch`,
}

/** Ends a lease, unless the worker owns nothing: then it is forgotten. Locks: the worker’s row, for update. */
const lockLeaving: Statement<{ readonly number: number }> = {
  name: null,
  text: `select number from belay.workflow_workers where number = $1::int for update`,
}
const endLease: Statement<never> = {
  name: null,
  text: `
with forgotten_worker as (
  delete from belay.workflow_workers w
  where w.number = $1::int and not exists (select from belay.workflow_live l where l.owner = w.number)
  returning w.number
)
update belay.workflow_workers w set lease_expires_at = '-infinity'
where w.number = $1::int and exists (select from belay.workflow_live l where l.owner = w.number)`,
}

/** Ends all leases, for a store that a single process owns and has just opened. Locks: all workers’ rows. */
export const expireAll: Statement<unknown> = {
  name: null,
  text: `update belay.workflow_workers set lease_expires_at = '-infinity' where alive`,
}

export async function register(connection: Connection, identity: NewIdentity): Promise<Identity> {
  const { id, name, host, slots, definitions, leaseMs } = identity
  const [row] = await connection.query(insertWorker, [id, name, host, slots, definitions, leaseMs])
  return { worker: row!.number, epoch: row!.epoch }
}

export async function renew(
  connection: Connection,
  worker: number,
  { leaseMs, busy }: Renewal,
): Promise<Renewed> {
  const [row] = await connection.query(renewWorker, [worker, leaseMs, busy])
  return row ?? 'lost'
}

export async function bump(connection: Connection, worker: number): Promise<number | null> {
  const [row] = await connection.query(bumpWorker, [worker])
  return row?.epoch ?? null
}

export function leave(connection: Connection, worker: number): Promise<void> {
  return connection.transaction(async (transaction) => {
    // From here on no statement of it is under way, and the next one sees what they have claimed.
    await transaction.query(lockLeaving, [worker])
    await transaction.query(endLease, [worker])
  })
}
