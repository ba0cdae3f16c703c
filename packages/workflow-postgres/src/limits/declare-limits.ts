import type { DeclaredLimit } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** Stores what code declares of limits. Guarantee: what was set stays. Index: primary key. Locks: the limits, by name. */
export const declareLimitNumbers: Statement<{ readonly name: string }> = {
  name: 'declare_limits',
  text: `
insert into belay.workflow_limits as l (name, declared, declared_per_ms, declared_burst, since_ms)
select d.name collate "C", d.concurrency, d.per_ms, d.burst, belay.store_ms()
from unnest($1::text[], $2::int[], $3::float8[], $4::int[]) as d (name, concurrency, per_ms, burst)
order by 1
on conflict (name) do update
set declared = excluded.declared, declared_per_ms = excluded.declared_per_ms, declared_burst = excluded.declared_burst,
  since_ms = greatest(excluded.since_ms, l.since_ms + 0.001),
  -- What was set for the other kind of limit means nothing any more.
  set_to = case when (l.set_per_ms is null) = (excluded.declared_per_ms is null) then l.set_to end,
  set_per_ms = case when excluded.declared_per_ms is not null then l.set_per_ms end,
  set_burst = case when excluded.declared_per_ms is not null then l.set_burst end
where (l.declared, l.declared_per_ms, l.declared_burst)
  is distinct from (excluded.declared, excluded.declared_per_ms, excluded.declared_burst)
returning l.name`,
}

export async function declareLimits(connection: Connection, limits: readonly DeclaredLimit[]): Promise<void> {
  await connection.query(declareLimitNumbers, [
    limits.map(({ name }) => name),
    limits.map(({ concurrency }) => concurrency),
    limits.map(({ rate }) => rate?.perMs ?? null),
    limits.map(({ rate }) => rate?.burst ?? null),
  ])
}
