import type { DeclaredLimit } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** Stores what code declares of limits. Guarantee: what was set stays. Index: primary key. Locks: the limits, by name. */
export const declareLimitNumbers: Statement<{ readonly name: string }> = {
  name: 'declare_limits',
  text: `
insert into belay.workflow_limits as l (name, declared)
select d.name collate "C", d.concurrency from unnest($1::text[], $2::int[]) as d (name, concurrency)
order by 1
on conflict (name) do update set declared = excluded.declared where l.declared is distinct from excluded.declared
returning l.name`,
}

export async function declareLimits(connection: Connection, limits: readonly DeclaredLimit[]): Promise<void> {
  await connection.query(declareLimitNumbers, [
    limits.map(({ name }) => name),
    limits.map(({ concurrency }) => concurrency),
  ])
}
