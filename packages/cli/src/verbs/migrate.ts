import { BelayError } from '@belay/workflow/adapter'
import type { MigrationPlan } from '@belay/workflow-postgres'
import type { Call } from '../call.ts'
import { misused, refused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import type { Store } from '../store/store.ts'
import { lead } from '../terminal/lead.ts'
import type { Output } from '../terminal/output.ts'

/** `belay migrate`. */
export async function run({ connect, flags, out }: Call): Promise<ExitStatus | undefined> {
  const showSql = flags['show-sql'] === true
  if (showSql && !flags['dry-run'])
    throw misused('--show-sql needs --dry-run.', 'migrate --dry-run --show-sql')
  const store = await connect()
  if (flags['dry-run']) {
    showPlan(out, store, await store.adapter.planMigration(), showSql)
    return
  }
  const report = await migrated(store)
  if (out.json) out.document(report)
  else {
    for (const tag of report.applied) out.line(`${lead(out, 'completed')}${tag}`)
    out.note(`Schema ${store.schema} is up to date.`)
  }
  return
}

function showPlan(out: Output, store: Store, plan: MigrationPlan, showSql: boolean): void {
  const { sql, ...others } = plan
  const { pending, stopsOlderCode } = plan
  if (out.json) return out.document(showSql ? plan : others)
  if (showSql) return out.raw(sql)
  for (const tag of pending) out.line(`+ ${tag}`)
  if (pending.length === 0) return out.note(`Schema ${store.schema} is up to date.`)
  const are = pending.length === 1 ? '1 migration is pending' : `${pending.length} migrations are pending`
  out.note(`${are}; ${stopping(stopsOlderCode)}. Nothing was changed.`)
  out.note('To read them: belay migrate --dry-run --show-sql')
}

function stopping(tags: readonly string[]): string {
  if (tags.length === 0) return 'none stops older code'
  return `${tags.join(', ')} ${tags.length === 1 ? 'stops' : 'stop'} older code: stop all workers first`
}

async function migrated({ adapter }: Store) {
  try {
    return await adapter.migrate()
  } catch (error) {
    // Its remedy names options of a function.
    if (!BelayError.is(error) || error.code !== 'workers_running') throw error
    throw refused(
      `${error.what}\nStop every process that uses Belay, then migrate. A worker that was killed counts until its lease expires.`,
      'workers',
    )
  }
}
