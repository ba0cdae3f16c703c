import type { ScheduleRecord } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { fromJsonText, toJsonText } from '../base/payload.ts'
import { checkedBySchema } from '../start/checked-run.ts'
import { putChange, type WantedSchedule } from './change-schedule.ts'
import { RunPreparer } from './prepare-runs.ts'
import { type CheckedSchedule, checkSchedule, type ScheduleOptions } from './schedule-options.ts'
import type { SchedulesParts } from './schedule-parts.ts'
import { type ScheduleSnapshot, scheduleSnapshot } from './schedule-snapshot.ts'
import { nextTime } from './timing.ts'

export interface PutRequest {
  readonly call: string
  readonly name: string
  readonly schedule: ScheduleOptions
  readonly declared?: boolean
  readonly tx?: unknown
}

/** Checks everything that a firing needs, then stores the schedule. */
export async function putSchedule(
  parts: PuttingParts,
  { call, name, schedule, declared = false, tx }: PutRequest,
): Promise<ScheduleSnapshot> {
  const [put] = await putSchedules(parts, [checkSchedule(call, name, schedule, declared)], tx)
  return put!
}

type PuttingParts = Omit<SchedulesParts, 'onStarted' | 'onCancelled'>

/** All of them in one transaction, with different names. Resolves to them in the same order. */
export async function putSchedules(
  parts: PuttingParts,
  checked: readonly CheckedSchedule[],
  tx: unknown,
): Promise<readonly ScheduleSnapshot[]> {
  const { adapter, onChanged } = parts
  if (tx === undefined) await adapter.open()
  const preparer = new RunPreparer(parts, tx)
  const wanted = new Map<string, WantedSchedule>()
  for (const each of checked) wanted.set(each.name, await storable(parts, preparer, each, tx))
  const { answers } = await adapter.changeSchedules(
    {
      names: [...wanted.keys()],
      decide: (found) => {
        const change = putChange(found, wanted.get(found.name)!)
        return { change, answer: change?.schedule ?? found.schedule! }
      },
    },
    { tx },
  )
  if (tx === undefined) onChanged()
  const put = new Map(answers.map(({ name, answer }) => [name, answer]))
  return checked.map(({ name }) => scheduleSnapshot(put.get(name)!))
}

/** Saves the definition, and makes a run of the first time to see whether it would start. */
async function storable(
  parts: PuttingParts,
  preparer: RunPreparer,
  checked: CheckedSchedule,
  tx: unknown,
): Promise<WantedSchedule> {
  const { settings, registry } = parts
  const { name, spec, timing, workflow } = checked
  const workflowName = typeof workflow === 'string' ? workflow : workflow.name
  for (const own of definitionsOf(checked, settings.workflows)) await registry.save(own, tx)
  const input = toJsonText(checked.input, settings.payloadMaxBytes, () => ({
    what: `Input of schedule "${name}"`,
    log: settings.log,
  }))
  const at = nextTime(timing, Date.UTC(2_025, 0), null) ?? 0
  const sample = { name, workflow: workflowName, input, spec: { ...spec, timing } } as ScheduleRecord
  const run = await preparer.runOf(sample, at, 'time')
  const isKnown = registry.known(run.definitionId) !== undefined
  if (!isKnown && typeof workflow !== 'string')
    await checkedBySchema(settings, workflow, fromJsonText(run.input))
  return { name, spec, timing, workflow: workflowName, input }
}

/** The definitions of the workflow that this process has: a firing finds them in the store. */
function definitionsOf(
  { workflow, spec }: CheckedSchedule,
  workflows: readonly WorkflowDefinition[],
): readonly WorkflowDefinition[] {
  if (typeof workflow !== 'string') return [workflow]
  return workflows.filter(
    ({ name, version }) => name === workflow && (spec.version === null || spec.version === version),
  )
}
