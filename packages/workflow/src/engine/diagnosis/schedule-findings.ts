import { holdsLease } from '../../adapter/holds-lease.ts'
import type { Adapter, Diagnosis, ScheduleRecord } from '../../adapter/index.ts'
import { counted } from '../../words.ts'
import { newestStored } from '../start/newest-stored.ts'
import { type FindingDraft, named } from './finding.ts'

/** The most schedules that are looked at for each kind of finding, and in a finding. */
const SCHEDULES_MAX = 1_000
const NAMED_MAX = 5

/** What keeps schedules from starting runs that are executed. Looks at a bounded number of schedules. */
export async function scheduleFindings(
  adapter: Adapter,
  { now, workers }: Pick<Diagnosis, 'now' | 'workers'>,
  overdueMs: number,
): Promise<readonly FindingDraft[]> {
  const read = async (filter: { readonly due?: true; readonly failing?: true; readonly paused?: false }) =>
    (await adapter.readSchedules({ ...filter, limit: SCHEDULES_MAX })).schedules
  const active = await read({ paused: false })
  if (active.length === 0) return []
  const due = await read({ due: true })
  const failing = await read({ failing: true })
  return [
    ...late(due.filter(({ dueAt }) => now - dueAt! > overdueMs)),
    ...failed(failing),
    ...(await unserved(adapter, active, liveDefinitions({ now, workers }))),
  ]
}

function late(schedules: readonly ScheduleRecord[]): readonly FindingDraft[] {
  const [first] = schedules
  if (first === undefined) return []
  const oldest = new Date(first.dueAt!)
  return [
    {
      type: 'late_schedules',
      ...{ schedules: namesOf(schedules), oldest },
      message: `${counted(schedules.length, 'schedule')} should have fired, the longest due since ${oldest.toISOString()} (${named(namesOf(schedules))}).`,
      remedy:
        'Start a worker, of any workflow: each one fires schedules. If workers run, look in their logs, and for a transaction that has locked the schedule or a run that it cancels.',
    },
  ]
}

function failed(schedules: readonly ScheduleRecord[]): readonly FindingDraft[] {
  if (schedules.length === 0) return []
  return [
    {
      type: 'failing_schedules',
      schedules: namesOf(schedules),
      message: `The newest firing of ${counted(schedules.length, 'schedule')} could not start a run (${named(namesOf(schedules))}).`,
      remedy:
        'Read the reason in the history of the schedule. Most often the input no longer fits the schema of the newest version: put the schedule with another input, and trigger it.',
    },
  ]
}

/** The definitions that live workers have; null if one of them may have any. */
function liveDefinitions({ now, workers }: Pick<Diagnosis, 'now' | 'workers'>): ReadonlySet<number> | null {
  const live = workers.filter((worker) => holdsLease(worker, now))
  if (live.some(({ definitionIds }) => definitionIds === null)) return null
  return new Set(live.flatMap(({ definitionIds }) => definitionIds ?? []))
}

async function unserved(
  adapter: Adapter,
  schedules: readonly ScheduleRecord[],
  served: ReadonlySet<number> | null,
): Promise<readonly FindingDraft[]> {
  if (served === null) return []
  const byWorkflow = new Map<string, ScheduleRecord[]>()
  for (const schedule of schedules) {
    const key = JSON.stringify([schedule.workflow, schedule.spec.version])
    byWorkflow.set(key, [...(byWorkflow.get(key) ?? []), schedule])
  }
  const findings: FindingDraft[] = []
  for (const own of byWorkflow.values()) {
    const { workflow, spec } = own[0]!
    const definition =
      spec.version === null
        ? await newestStored(adapter, workflow)
        : await adapter.findDefinition({ name: workflow, version: spec.version })
    if (definition !== null && served.has(definition.id)) continue
    findings.push({
      type: 'schedule_without_worker',
      ...{ workflow, schedules: namesOf(own) },
      message: `${counted(own.length, 'schedule')} of workflow "${workflow}" (${named(namesOf(own))}): no live worker has handlers for ${definition === null ? 'it, and it is not stored' : `version ${definition.version}, which their runs follow`}.`,
      remedy: `Start a worker whose \`workflows\` include ${definition === null ? `"${workflow}"` : `version ${definition.version} of "${workflow}"`}, or pause these schedules. Their runs wait until then.`,
      actions: [{ verb: 'schedules.pause' }],
    })
  }
  return findings
}

function namesOf(schedules: readonly ScheduleRecord[]): readonly string[] {
  return schedules.slice(0, NAMED_MAX).map(({ name }) => name)
}
