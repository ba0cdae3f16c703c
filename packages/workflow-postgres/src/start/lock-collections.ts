import { passingLockWait, restoredLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** A definition and a key under which its calls are collected. */
export interface CollectKey {
  readonly definitionId: number
  readonly key: string
}

/**
 * Locks the rows of these keys, and makes those that are missing. Guarantee: of two transactions that call with one key, the second waits for the
 * first; whoever gets the lock reads afterwards, in a statement of its own, what the first has committed. Index: primary key. Locks: the rows in the
 * given order, that of their keys, so that two calls with the same keys cannot deadlock.
 */
export const lockCollections: Statement<{ readonly locked: number }> = {
  name: 'lock_collections',
  text: `
with ${passingLockWait('$3')},
asked_keys as materialized (
  select k.definition_id, k.key, k.position
  from unnest($1::int[], $2::text[]) with ordinality as k (definition_id, key, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
),
locked_collections as (
  insert into belay.workflow_collections as k (definition_id, key)
  select a.definition_id, a.key from asked_keys a order by a.position
  -- A row is locked by an update that changes nothing.
  on conflict (definition_id, key) do update set calls = k.calls
  returning k.definition_id
),
${restoredLockWait('locked_collections')}
select count(*)::int as locked from locked_collections cross join restored_wait`,
}

/** Locks the keys, which must be in {@link inOrder order}. `waits`: how long to wait for another transaction, as Postgres takes it. */
export async function lockKeys(
  connection: Connection,
  keys: readonly CollectKey[],
  waits: string,
): Promise<void> {
  await connection.query(lockCollections, [
    keys.map(({ definitionId }) => definitionId),
    keys.map(({ key }) => key),
    waits,
  ])
}

/** By code unit, which is the same in every process, unlike a locale's order. */
export function inOrder<Key extends CollectKey>(keys: readonly Key[]): readonly Key[] {
  return [...keys].sort((one, other) => one.definitionId - other.definitionId || compare(one.key, other.key))
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
