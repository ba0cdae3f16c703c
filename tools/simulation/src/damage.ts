import type { SimulatedStore } from '@belay/testing/simulation'
import type { Query } from './statements.ts'

type DamageKind = Parameters<SimulatedStore['damage']>[1]

const STATEMENTS: Readonly<Record<DamageKind, (schema: string) => readonly string[]>> = {
  'missing row': (schema) => [
    `delete from ${schema}.workflow_steps s where s.run_id = $1
     and s.step = (select max(last.step) from ${schema}.workflow_steps last where last.run_id = $1 and last.step < 65536)`,
  ],
  fence: (schema) => [
    `update ${schema}.workflow_steps set fence = 2147483647 where run_id = $1`,
    `update ${schema}.workflow_ready set fence = 2147483647 where run_id = $1`,
    `update ${schema}.workflow_ready_items set fence = 2147483647 where run_id = $1`,
  ],
  deadline: (schema) => [`update ${schema}.workflow_runs set deadline_at = '-infinity' where id = $1`],
}

/** Damages the rows of a run, as a bad restore might. */
export async function damage(
  query: Query,
  schema: string,
  { runId, kind }: { readonly runId: string; readonly kind: DamageKind },
): Promise<void> {
  for (const statement of STATEMENTS[kind](`"${schema}"`)) await query(statement, [runId])
}
