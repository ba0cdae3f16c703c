import { type Adapter, type ChangedRun, isTerminal } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import type { DefinitionRegistry } from '../definition-registry.ts'
import type { EventHub } from '../events.ts'
import { explainRun } from '../explain/explain.ts'
import type { Explanation } from '../explain/explanation.ts'
import { toJsonText } from '../payload.ts'
import { unknownRun } from '../run-reference.ts'
import { type Action, type ActionResult, decideAction } from './action.ts'
import type { Actor } from './change-of.ts'
import { historyEntry, type RunHistoryEntry } from './history.ts'
import { type ActionOptions, checkActionOptions } from './options.ts'

const HISTORY_DEFAULT = 200
const HISTORY_MAX = 10_000

export interface ControlParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly events: EventHub
  readonly payloadMaxBytes: number
  /** Throws once the engine is closed. */
  readonly assertOpen: () => void
  readonly onRunsChanged: (runs: readonly ChangedRun[]) => void
  /** A run that has ended follows another definition now. */
  readonly onMoved: (runId: string) => void
  /** Runs were stopped: they are to be drained and undone. */
  readonly onStopped: (runIds: readonly string[]) => void
  /** Steps may be claimed that could not be before. */
  readonly onQueued: () => void
}

export interface CancelOptions extends ActionOptions {
  /** False leaves everything that was done as it is: the run ends as `cancelled` without an undo. Default true. */
  readonly compensate?: boolean | undefined
}

/** What operators do to runs: each action is decided by a pure function of the run as it stands, and recorded with who did it and why. */
export class Control {
  readonly #parts: ControlParts

  constructor(parts: ControlParts) {
    this.#parts = parts
  }

  /** Throws `action_refused`, `invalid_option`, `unknown_run`. */
  async act(runId: string, action: Action, by: Actor): Promise<ActionResult> {
    const { adapter } = this.#parts
    this.#parts.assertOpen()
    await adapter.open()
    const result = await adapter.changeRun({
      runId,
      decide: (found) => decideAction(found, action, by),
    })
    if (result === null) throw unknownRun({ runId })
    if (result.changed) this.#tell(runId, action, by, result)
    return result
  }

  /** What the action would come to, without doing it. */
  async wouldAct(runId: string, action: Action, by: Actor): Promise<ActionResult> {
    const { adapter } = this.#parts
    this.#parts.assertOpen()
    await adapter.open()
    const result = await adapter.changeRun({
      runId,
      decide: (found) => ({ change: null, answer: decideAction(found, action, by).answer }),
    })
    if (result === null) throw unknownRun({ runId })
    return result
  }

  /** Stops runs; returns those that this call stopped. */
  async cancelAll(runIds: readonly string[], by: Actor, compensate: boolean): Promise<readonly string[]> {
    const { adapter, events, onRunsChanged, onStopped } = this.#parts
    this.#parts.assertOpen()
    await adapter.open()
    const cause: RunCause = { type: 'cancelled', reason: by.reason ?? undefined }
    const stop = compensate ? 'cancellation' : 'abandonment'
    const stopped = await adapter.cancelRuns({ runIds, cause: JSON.stringify(cause), stop, by })
    const stoppedIds = stopped.map(({ runId }) => runId)
    onRunsChanged(stopped)
    for (const runId of stoppedIds)
      events.emit('operator.acted', { runId, action: 'cancel', step: undefined, ...told(by) })
    if (stoppedIds.length > 0) onStopped(stoppedIds)
    return stoppedIds
  }

  /** Whether this call stopped the run. */
  async cancel(runId: string, options: CancelOptions): Promise<boolean> {
    const by = checkActionOptions('cancel()', options, ['compensate'])
    const compensate = checkCompensate('cancel()', options)
    const stopped = await this.cancelAll([runId], by, compensate)
    if (stopped.length > 0) return true
    const known = await this.#parts.adapter.readStatuses([runId])
    if (known.length === 0) throw unknownRun({ runId })
    return false
  }

  skipStep(
    runId: string,
    step: string,
    options: ActionOptions & { output?: unknown },
  ): Promise<ActionResult> {
    const by = checkActionOptions('skipStep()', options, ['output'])
    const what = `Stand-in output of step "${step}" of run ${runId}`
    const output = toJsonText(options.output, this.#parts.payloadMaxBytes, () => ({ what, runId, step }))
    return this.act(runId, { type: 'skip_step', step, output }, by)
  }

  async giveUpStep(runId: string, step: string, options: ActionOptions): Promise<void> {
    const by = checkActionOptions('giveUpStep()', options)
    const { reason } = by
    if (reason === null || reason.trim() === '') {
      throw new BelayError(
        'invalid_option',
        'giveUpStep() needs a `reason`: say how you know that the handler will not end.',
      )
    }
    await this.act(runId, { type: 'give_up_step', step, reason }, by)
    this.#parts.onStopped([runId])
  }

  async migrate(runId: string, workflow: WorkflowDefinition, options: ActionOptions): Promise<boolean> {
    const by = checkActionOptions('migrateRun()', options)
    if (typeof workflow?.record?.checksum !== 'string') {
      throw new BelayError(
        'unknown_workflow',
        `migrateRun() takes a definition made by define() or defineGraph(), got ${typeof workflow}.`,
      )
    }
    this.#parts.assertOpen()
    await this.#parts.adapter.open()
    const definition = await this.#parts.registry.save(workflow)
    return (await this.act(runId, { type: 'migrate', definition }, by)).changed
  }

  /** What was done to a run from outside, oldest first. */
  async history(
    runId: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly RunHistoryEntry[]> {
    const { limit = HISTORY_DEFAULT } = options
    if (!Number.isInteger(limit) || limit < 1 || limit > HISTORY_MAX) {
      throw new BelayError(
        'invalid_option',
        `history(): limit must be a whole number from 1 to ${HISTORY_MAX}; got ${limit}.`,
      )
    }
    const { adapter } = this.#parts
    this.#parts.assertOpen()
    await adapter.open()
    const records = await adapter.readHistory({ runId, limit })
    if (records.length === 0 && (await adapter.findRun({ runId })) === null) throw unknownRun({ runId })
    return records.map(historyEntry)
  }

  /** Why a run is where it is. */
  async explain(runId: string): Promise<Explanation> {
    const { adapter } = this.#parts
    this.#parts.assertOpen()
    await adapter.open()
    const found = await adapter.readRun(runId)
    if (found === null) throw unknownRun({ runId })
    const [[definition], workers, now] = await Promise.all([
      adapter.readDefinitions([found.run.definitionId]),
      adapter.listWorkers(),
      adapter.now(),
    ])
    return explainRun({ ...found, shape: definition!.shape, workers, now })
  }

  #tell(runId: string, action: Action, by: Actor, { from, run, queued }: ActionResult): void {
    const { events, onRunsChanged, onMoved, onQueued } = this.#parts
    const step = 'step' in action ? action.step : undefined
    events.emit('operator.acted', { runId, action: action.type, step, ...told(by) })
    if (from !== run.status) onRunsChanged([run])
    // Steps of a run that has ended were replaced: what is remembered of their payloads is stale.
    else if (isTerminal(from)) onMoved(runId)
    if (queued) onQueued()
  }
}

export function checkCompensate(method: string, { compensate = true }: CancelOptions): boolean {
  if (typeof compensate === 'boolean') return compensate
  throw new BelayError(
    'invalid_option',
    `${method}: compensate must be true or false; got ${typeof compensate}.`,
  )
}

function told({ actor, reason }: Actor): {
  readonly by: string | undefined
  readonly reason: string | undefined
} {
  return { by: actor ?? undefined, reason: reason ?? undefined }
}
