import { quoted, versionFlags } from '@belay/graph-view'
import type { DoctorReport, Finding } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { commandFor } from '../runs/commands.ts'
import type { Store } from '../store/store.ts'
import { lead } from '../terminal/lead.ts'
import { safe } from '../terminal/text.ts'

/** `belay doctor`. */
export async function run({ connect, out, quote }: Call): Promise<ExitStatus | undefined> {
  const store = await connect()
  const report = await store.engine.doctor({ quote })
  const status = statusOf(report)
  if (out.json) {
    out.document(report)
    return status
  }
  if (report.healthy) {
    out.line(`${lead(out, 'completed')}healthy  ${[store.place, ...aboutServer(report)].join(', ')}`)
    return
  }
  for (const finding of report.findings) {
    const mark = lead(out, 'needs you')
    out.paragraph(safe(finding.message), { indent: mark.length === 0 ? 0 : 2, first: mark })
    const commands = await commandsOf(finding, store)
    if (commands.length === 0 || !SAID_BY_COMMANDS.has(finding.type))
      out.paragraph(safe(finding.remedy), { indent: 2 })
    for (const command of commands.slice(0, COMMANDS_MAX)) out.line(`    belay ${safe(command)}`)
  }
  const { length } = report.findings
  out.note(length === 1 ? '1 finding.' : `${length} findings.`)
  return status
}

const COMMANDS_MAX = 3

/** Findings whose remedy says nothing that their commands do not say. */
const SAID_BY_COMMANDS: ReadonlySet<Finding['type']> = new Set([
  'parked_runs',
  'paused_runs',
  'closed_limit',
  'store_unusable',
])

function statusOf({ healthy, findings }: DoctorReport): ExitStatus {
  if (healthy) return 0
  return findings.some(({ type }) => type === 'store_unusable') ? 3 : 1
}

function aboutServer({ store: { server, migration } }: DoctorReport): readonly string[] {
  return [
    // Debian adds the name of its package.
    ...(server === undefined ? [] : [`PostgreSQL ${safe(server.split(' ')[0]!)}`]),
    ...(migration === undefined ? [] : [safe(migration)]),
  ]
}

/** Commands that lead on from a finding, without `belay`. */
async function commandsOf(finding: Finding, store: Store): Promise<readonly string[]> {
  switch (finding.type) {
    case 'parked_runs':
      return [explain(finding.runIds)]
    case 'failing_runs':
      return [explain(finding.runIds), ...actionsOf(finding, '')]
    case 'version_without_worker':
    case 'paused_runs':
      return targeted(actionsOf(finding, runsOf(finding)), finding, store)
    case 'closed_limit':
    case 'limit_circle':
      return limitCommands(finding.limit, store)
    case 'failing_schedules':
      return [`schedules history ${quoted(finding.schedules[0]!)}`]
    case 'schedule_without_worker':
      return actionsOf(finding, quoted(finding.schedules[0]!))
    case 'store_unusable':
      return finding.code === 'schema_missing' || finding.code === 'schema_outdated'
        ? ['migrate --dry-run']
        : []
    default:
      return actionsOf(finding, '')
  }
}

function actionsOf({ actions }: Finding, filter: string): readonly string[] {
  return actions.flatMap((action) => commandFor(action, { filter }) ?? [])
}

function explain(runIds: readonly string[]): string {
  return `explain ${runIds[0]!}`
}

function runsOf({
  type,
  runs,
  runIds,
  workflow,
  version,
}: Finding & { readonly type: 'version_without_worker' | 'paused_runs' }): string {
  if (runs === 1) return runIds[0]!
  const filter = versionFlags(workflow, version)
  return type === 'paused_runs' ? `${filter} --status paused` : filter
}

/** A move needs another version: the newest one that is stored. Without one, cancelling is no remedy for runs that only wait for their worker. */
async function targeted(
  commands: readonly string[],
  { workflow, version }: { readonly workflow: string; readonly version: number },
  { engine }: Store,
): Promise<readonly string[]> {
  if (!commands.some((command) => command.startsWith('move '))) return commands
  const newest = await engine.workflows.get(workflow)
  if (newest.version === version) return []
  return commands.map((command) =>
    command.startsWith('move ')
      ? command.replace(/ --dry-run$/, ` --to ${newest.version} --dry-run`)
      : command,
  )
}

/** Back to what code declares; if nothing else was set, one slot more. */
async function limitCommands(name: string, { engine }: Store): Promise<readonly string[]> {
  const limit = await engine.limits.get(name)
  if (limit?.declared === undefined) return []
  if (limit.set !== undefined && (limit.concurrency ?? limit.rateLimit?.limit) === 0)
    return [`limits reset ${quoted(name)}`]
  if (limit.concurrency === undefined) return [`limits set ${quoted(name)} --rate <n>/<duration>`]
  return [`limits set ${quoted(name)} --slots ${limit.concurrency + 1}`]
}
