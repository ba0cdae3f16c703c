import { commandText, quoted, REASON_OPEN, versionFlags } from '@belay/graph-view'
import type { Finding } from '@belay/workflow'
import type { ActionRequest, HealthFinding } from '../api.ts'
import { isVerb } from '../capabilities.ts'

/** What may be done here about one run, before it is said who may. */
export interface Offer {
  readonly verb: ActionRequest['verb']
  readonly step?: string | undefined
  readonly run: string
}

/** What helps against a finding. */
interface Help {
  /** Each about one run. */
  readonly actions: readonly Offer[]
  readonly commands: readonly string[]
  readonly query?: string
  /** Screens that show more of what it is about. */
  readonly links?: HealthFinding['links']
}

/** Buttons act on one run each. What is about all runs of a finding, a limit or a schedule is a command, and the runs are a list. */
export function helpFor(finding: Finding): Help {
  const actions = finding.actions.flatMap(({ verb, step, run = onlyRunOf(finding) }) =>
    isVerb(verb) && run !== undefined ? [{ verb, step, run }] : [],
  )
  const commands = commandsFor(finding).map((command) => `belay ${command}`)
  const query = queryOf(finding)
  const links = linksOf(finding)
  return {
    ...{ actions, commands },
    ...(query === undefined ? {} : { query }),
    ...(links.length === 0 ? {} : { links }),
  }
}

function onlyRunOf(finding: Finding): string | undefined {
  return 'runs' in finding && 'runIds' in finding && finding.runs === 1 ? finding.runIds[0] : undefined
}

function commandsFor(finding: Finding): readonly string[] {
  switch (finding.type) {
    case 'version_without_worker':
    case 'paused_runs':
      return manyCommands(finding)
    case 'failing_runs': {
      const { workflow, version, since, actions } = finding
      const filter = `${versionFlags(workflow, version)} --since ${since.toISOString()}`
      return actions.length === 0 ? [] : [commandText({ verb: 'retry' }, filter)]
    }
    case 'closed_limit':
      return finding.actions.length === 0
        ? []
        : [commandText({ verb: 'limits.reset' }, quoted(finding.limit))]
    case 'limit_circle':
      return [`limits set ${quoted(finding.limit)} --slots <n>`]
    case 'schedule_without_worker':
      return finding.schedules.map((name) => commandText({ verb: 'schedules.pause' }, quoted(name)))
    case 'failing_schedules':
      return finding.schedules.map((name) => `schedules history ${quoted(name)}`)
    case 'store_unusable':
      return finding.code === 'schema_missing' || finding.code === 'schema_outdated'
        ? ['migrate --dry-run']
        : []
    default:
      return []
  }
}

function manyCommands(
  finding: Finding & { readonly type: 'version_without_worker' | 'paused_runs' },
): readonly string[] {
  const only = onlyRunOf(finding)
  const filter = `${versionFlags(finding.workflow, finding.version)}${finding.type === 'paused_runs' ? ' --status paused' : ''}`
  return finding.actions.flatMap(({ verb }) => {
    if (verb === 'migrateRun') return commandText({ verb, to: '<version>' }, only ?? filter)
    // For one run there is a button.
    if (only !== undefined) return []
    return verb === 'resume' || verb === 'cancel' ? commandText({ verb }, filter) : []
  })
}

export function moveCommand(workflow: string, from: number, to: number): string {
  return `belay move ${versionFlags(workflow, from)} --to ${to} --reason '${REASON_OPEN}'`
}

const LIVE = ['scheduled', 'running', 'waiting', 'parked', 'paused', 'compensating', 'compensation_failed']
const STATUSES: Readonly<Partial<Record<Finding['type'], readonly string[]>>> = {
  paused_runs: ['paused'],
  failing_runs: ['failed-only', 'compensated'],
  version_without_worker: LIVE,
  growing_queue: LIVE,
  overdue_steps: LIVE,
  no_free_slots: LIVE,
}

const ABOUT_WORKERS: ReadonlySet<Finding['type']> = new Set([
  'version_without_worker',
  'dead_worker',
  'unknown_leases',
  'overdue_steps',
  'no_free_slots',
  'growing_queue',
  'late_schedules',
  'schedule_without_worker',
])

function linksOf(finding: Finding): NonNullable<Help['links']> {
  const names = 'schedules' in finding ? finding.schedules : []
  return [
    ...names.map((name) => ({ to: `/schedules/${encodeURIComponent(name)}`, words: name })),
    ...(finding.type === 'parked_runs' ? [{ to: '/rollbacks', words: 'Show the rollbacks' }] : []),
    ...(finding.type === 'version_without_worker'
      ? [{ to: `/versions/${encodeURIComponent(finding.workflow)}`, words: 'Show the versions' }]
      : []),
    ...('limit' in finding
      ? [{ to: `/limits?${new URLSearchParams({ name: finding.limit })}`, words: 'Show the limit' }]
      : []),
    ...(ABOUT_WORKERS.has(finding.type) ? [{ to: '/workers', words: 'Show the workers' }] : []),
  ]
}

function queryOf(finding: Finding): string | undefined {
  const statuses = STATUSES[finding.type]
  if (statuses === undefined || !('workflow' in finding) || !('version' in finding)) return undefined
  const { workflow, version } = finding
  const query = [
    ['workflow', workflow],
    ['version', String(version)],
    ...statuses.map((one) => ['status', one]),
  ]
  return new URLSearchParams(query).toString()
}
