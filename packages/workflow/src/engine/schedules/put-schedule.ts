import type { ScheduleRecord } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { fromJsonText, toJsonText } from '../base/payload.ts'
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
  parts: Omit<SchedulesParts, 'onStarted' | 'onCancelled'>,
  { call, name, schedule, declared = false, tx }: PutRequest,
): Promise<ScheduleSnapshot> {
  const { adapter, onChanged } = parts
  const checked = checkSchedule(call, name, schedule, declared)
  if (tx === undefined) await adapter.open()
  const wanted = await storable(parts, checked, tx)
  const { answers } = await adapter.changeSchedules(
    {
      names: [name],
      decide: (found) => {
        const change = putChange(found, wanted)
        return { change, answer: change?.schedule ?? found.schedule! }
      },
    },
    { tx },
  )
  if (tx === undefined) onChanged()
  return scheduleSnapshot(answers[0]!.answer)
}

/** Saves the definition, and makes a run of the first time to see whether it would start. */
async function storable(
  parts: Omit<SchedulesParts, 'onStarted' | 'onCancelled'>,
  checked: CheckedSchedule,
  tx: unknown,
): Promise<WantedSchedule> {
  const { settings, registry } = parts
  const { name, spec, timing, workflow } = checked
  const workflowName = typeof workflow === 'string' ? workflow : workflow.name
  for (const own of definitionsOf(checked, settings.workflows)) await registry.save(own, tx)
  const input = toJsonText(checked.input, settings.payloadMaxBytes, () => ({
    what: `Input of schedule "${name}"`,
  }))
  const at = nextTime(timing, Date.UTC(2_025, 0), null) ?? 0
  const sample = { name, workflow: workflowName, input, spec: { ...spec, timing } } as ScheduleRecord
  const run = await new RunPreparer(parts, tx).runOf(sample, at, 'time')
  const isKnown = registry.known(run.definitionId) !== undefined
  if (!isKnown && typeof workflow !== 'string') await workflow.validate(fromJsonText(run.input))
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
