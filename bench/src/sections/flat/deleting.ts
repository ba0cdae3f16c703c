import { withClient } from '../../database.ts'
import { drainUnder, type FlatBench } from './condition.ts'

const BATCH_RUNS = 5_000
// Leaves a history for the later rounds.
const SHARE_MAX = 0.1

/** The oldest finished runs and their steps, after the last ones deleted before. */
const DELETE_BATCH = `
with oldest_runs as materialized (
  select id from belay.workflow_runs where id > $1::uuid and finished_at is not null order by id limit ${BATCH_RUNS}
),
deleted_steps as (
  delete from belay.workflow_steps s using oldest_runs o where s.run_id = o.id
),
deleted_runs as (
  delete from belay.workflow_runs r using oldest_runs o where r.id = o.id returning r.id
)
select count(*)::int as deleted, (select id from oldest_runs order by id desc limit 1) as last from deleted_runs`

/** Drains the chain of 3 in the history's database while another connection continuously deletes finished runs. */
export async function measureWhileDeleting(given: FlatBench & { url: string }): Promise<void> {
  let deleted = 0
  const drained = await drainUnder('while finished runs are deleted in bulk', {
    ...given,
    around: {
      async during(signal) {
        const max = given.bench.historyRuns * SHARE_MAX
        deleted = await deleteUntil(signal, { url: given.url, max })
      },
    },
  })
  given.record.add('finished runs deleted meanwhile', { unit: 'runs/s', value: deleted / drained.seconds })
}

function deleteUntil(signal: AbortSignal, { url, max }: { url: string; max: number }): Promise<number> {
  return withClient(url, async (client) => {
    let last: string | null = '00000000-0000-0000-0000-000000000000'
    let deleted = 0
    while (!signal.aborted && deleted < max && last !== null) {
      const { rows }: { rows: { deleted: number; last: string | null }[] } = await client.query(
        DELETE_BATCH,
        [last],
      )
      deleted += rows[0]?.deleted ?? 0
      last = rows[0]?.last ?? null
    }
    return deleted
  })
}
