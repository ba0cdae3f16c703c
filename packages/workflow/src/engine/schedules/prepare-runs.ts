import type { Adapter, NewRun, SavedDefinition, ScheduleRecord } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import { messageOf } from '../../thrown.ts'
import type { CallSettings } from '../base/call-settings.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { isAnswered, isPassing } from '../base/outage.ts'
import { fromJsonText } from '../base/payload.ts'
import { newestStored } from '../start/newest-stored.ts'
import { preparedRun } from '../start/start-run.ts'
import type { PreparedFiring } from './plan-firing.ts'

export interface PrepareParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly settings: CallSettings
}

/** A firing that needs a run. */
export interface Wanted {
  readonly scheduledAt: number
  readonly cause: PreparedFiring['cause']
}

/** The longest tag; a longer name has none. */
const TAG_LENGTH_MAX = 200

/** Makes the runs of firings. In one round, the definition of each workflow is looked up once. */
export class RunPreparer {
  readonly #parts: PrepareParts
  readonly #tx: unknown
  readonly #definitions = new Map<string, Promise<SavedDefinition>>()

  constructor(parts: PrepareParts, tx?: unknown) {
    this.#parts = parts
    this.#tx = tx
  }

  /** Looks the definition up, which {@link prepare} then knows. Throws only what an outage throws. */
  async know(schedule: ScheduleRecord): Promise<void> {
    await this.#definitionOf(schedule).catch((error: unknown) => {
      if (isPassing(error)) throw error
    })
  }

  /** Never throws because of the schedule: a firing without a run says why. Throws what the store throws. */
  async prepare(schedule: ScheduleRecord, { scheduledAt, cause }: Wanted): Promise<PreparedFiring> {
    try {
      return { scheduledAt, cause, run: await this.runOf(schedule, scheduledAt, cause), refusal: null }
    } catch (error) {
      if (isPassing(error) || (BelayError.is(error) && error.code === 'engine_closed')) throw error
      const refusal = isAnswered(error) ? messageOf(error) : `Its input was refused: ${messageOf(error)}`
      return { scheduledAt, cause, run: null, refusal }
    }
  }

  async runOf(schedule: ScheduleRecord, scheduledAt: number, cause: Wanted['cause']): Promise<NewRun> {
    const { registry } = this.#parts
    const definition = await this.#definitionOf(schedule)
    const workflow: WorkflowDefinition | undefined = registry.knownAs(definition)
    const { name, spec } = schedule
    const tag = `schedule:${name}`
    const tags = tag.length > TAG_LENGTH_MAX ? spec.tags : [...new Set([...spec.tags, tag])]
    const run = await preparedRun(this.#parts, { definition, workflow }, inputAt(schedule, scheduledAt), {
      key: null,
      tags,
    })
    // A firing may wait for the end of this run.
    const ends = spec.overlap === 'queue' ? { reportsEnd: true } : {}
    return {
      ...run,
      ...ends,
      key: cause === 'trigger' ? `schedule:${name}:${run.runId}` : keyOf(name, scheduledAt),
    }
  }

  #definitionOf({ workflow, spec }: ScheduleRecord): Promise<SavedDefinition> {
    const name = `${spec.version ?? ''}@${workflow}`
    const known = this.#definitions.get(name) ?? this.#find(workflow, spec.version)
    this.#definitions.set(name, known)
    return known
  }

  async #find(name: string, version: number | null): Promise<SavedDefinition> {
    const { adapter, registry, settings } = this.#parts
    const tx = this.#tx
    const found =
      version === null
        ? await newestStored(adapter, name, tx)
        : await adapter.findDefinition({ name, version }, { tx })
    if (found !== null) return found
    const own = settings.workflows
      .filter((workflow) => workflow.name === name && (version === null || version === workflow.version))
      .reduce<WorkflowDefinition | undefined>(newer, undefined)
    // This process has saved it when it started: the store has lost it.
    if (own !== undefined) return registry.saveAgain(own, tx)
    const what = version === null ? '' : `version ${version} of `
    throw new BelayError('unknown_workflow', `There is no ${what}workflow ${shown(name)} in the store.`, {
      remedy:
        'Start an engine that has the definition among its `workflows`, or start a run with it: either stores it.',
    })
  }
}

function newer(one: WorkflowDefinition | undefined, other: WorkflowDefinition): WorkflowDefinition {
  return one === undefined || other.version > one.version ? other : one
}

/** The key of the run for a time of a schedule: whoever starts it, and however often, there is one. */
function keyOf(name: string, scheduledAt: number): string {
  return `schedule:${name}:${new Date(scheduledAt).toISOString()}`
}

/** The schedule whose run has this key, or a name that no schedule has. Undefined for a key that no schedule makes. */
export function scheduleOfKey(key: string): string | undefined {
  return KEY.exec(key)?.[1]
}

/** The name of the schedule, then a time, or the id of a run that was triggered. */
const KEY =
  /^schedule:(.+):(?:[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/s

function inputAt({ input, spec }: ScheduleRecord, scheduledAt: number): unknown {
  const given = fromJsonText(input)
  if (spec.timeAs === null) return given
  return { ...(given as object | undefined), [spec.timeAs]: new Date(scheduledAt).toISOString() }
}
