import {
  type Adapter,
  type ChangedRun,
  isTerminal,
  type RunToChange,
  type SavedDefinition,
} from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { anything, checkOptions, type OptionTable, wholeNumber, yesOrNo } from '../../options/index.ts'
import { checkDefinition } from '../base/definition-argument.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { EventHub } from '../base/events.ts'
import { toJsonText } from '../base/payload.ts'
import type { ExplainOptions, Explanation } from '../diagnosis/explain/explanation.ts'
import { unknownRun } from '../runs/run-reference.ts'
import { type Action, type ActionResult, decideAction, leavesItems, type StepRepair } from './action.ts'
import { cancellation } from './cancel.ts'
import type { Actor } from './change-of.ts'
import { EXPLAIN_OPTIONS, explainStored } from './explain-stored.ts'
import { alignPause, assertNoFamily, byParent, ignoreEnded, liveChildren, wasDoneByParent } from './family.ts'
import { historyEntry, type RunHistoryEntry } from './history.ts'
import {
  ACTION_OPTIONS,
  type ActionOptions,
  actorOf,
  checkActionOptions,
  checkStepArgument,
  WITHIN_ACTION_OPTIONS,
  type WithinActionOptions,
} from './options.ts'
import { decideForFamily } from './owned-runs.ts'

export const CANCEL_OPTIONS = {
  ...ACTION_OPTIONS,
  compensate: { sets: 'whether the run is undone', takes: yesOrNo, default: true },
} satisfies OptionTable

const CANCEL_WITHIN_OPTIONS = { ...CANCEL_OPTIONS, ...WITHIN_ACTION_OPTIONS } satisfies OptionTable

const SKIP_OPTIONS = {
  ...ACTION_OPTIONS,
  output: { sets: "the stand-in for the step's output", takes: anything },
} satisfies OptionTable

const HISTORY_OPTIONS = {
  limit: { sets: 'how many entries are read at most', takes: wholeNumber(1, 10_000), default: 200 },
} satisfies OptionTable

export interface ControlParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly events: EventHub
  readonly payloadMaxBytes: number
  readonly log: Logger
  readonly keepAttempts: boolean
  /** Throws once the engine is closed. */
  readonly assertOpen: () => void
  readonly onRunsChanged: (runs: readonly ChangedRun[]) => void
  /** An ended run was moved to another definition. */
  readonly onMoved: (runId: string) => void
  /** Runs were stopped: they must be drained and undone. */
  readonly onStopped: (runIds: readonly string[]) => void
  /** Steps became claimable. */
  readonly onQueued: () => void
}

export interface CancelOptions extends WithinActionOptions {
  /** False ends the run as `cancelled` without an undo: the effects of its steps stay. Default true. */
  readonly compensate?: boolean | undefined
}

/** Operators' actions on runs. A pure function of the run's current state decides each action; the history records who did it and why. */
export class Control {
  readonly #parts: ControlParts

  constructor(parts: ControlParts) {
    this.#parts = parts
  }

  /** Throws `action_refused`, `invalid_option`, `unknown_run`. */
  async act(runId: string, action: Action, by: Actor, tx?: unknown): Promise<ActionResult> {
    const { adapter, keepAttempts } = this.#parts
    this.#parts.assertOpen()
    // Within a transaction the adapter opens itself, as for runs that are started in one.
    if (tx === undefined) await adapter.open()
    if (action.type === 'pause' || action.type === 'resume') {
      if (tx === undefined) await this.#actOnChildren(runId, action)
      else await assertNoFamily(adapter, { runId, action: action.type, tx })
    }
    const result = await decideForFamily(this.#parts, { action, by }, (decide) =>
      adapter.changeRun({ runId, keepAttempts, decide, leavesItems: leavesItems(action) }, { tx }),
    )
    if (result === null) throw unknownRun({ runId })
    // Changes within a transaction take effect at its commit: the adapter then wakes workers.
    if (result.changed && tx === undefined) this.#report(runId, action, by, result)
    // A child may have started between the first look and the change.
    if ((action.type === 'pause' || action.type === 'resume') && tx === undefined)
      await this.#alignChildren(runId)
    return result
  }

  /** The children come first: if this process dies meanwhile, the run is as it was, and its operator repeats the action. */
  async #actOnChildren(runId: string, action: Action & { readonly type: 'pause' | 'resume' }) {
    const { adapter } = this.#parts
    for (const { runId: childId, status } of await liveChildren(this.#parts, runId)) {
      const isPaused = status === 'paused'
      const bond = { childId, parentId: runId }
      const wanted =
        action.type === 'pause' ? !isPaused : isPaused && (await wasDoneByParent(adapter, bond, 'pause'))
      if (wanted) await this.act(childId, action, byParent(runId)).catch(ignoreEnded)
    }
  }

  async #alignChildren(runId: string): Promise<void> {
    const parts = { adapter: this.#parts.adapter, act: this.act.bind(this) }
    for (const child of await liveChildren(this.#parts, runId))
      await alignPause(parts, { childId: child.runId, parentId: runId })
  }

  /** Decides an action without doing it. */
  async wouldAct(runId: string, action: Action, by: Actor): Promise<ActionResult> {
    const { adapter } = this.#parts
    this.#parts.assertOpen()
    await adapter.open()
    const result = await decideForFamily(this.#parts, { action, by }, (decide) =>
      adapter.changeRun({
        runId,
        decide: (found) => ({ change: null, answer: decide(found).answer }),
        leavesItems: leavesItems(action),
      }),
    )
    if (result === null) throw unknownRun({ runId })
    return result
  }

  /** Ends a run without an undo, in two changes: it is stopped, then it ends. Resolves to whether this call ended it. */
  async drop(runId: string, by: Actor): Promise<boolean> {
    const { adapter, keepAttempts } = this.#parts
    const action: Action = { type: 'drop' }
    this.#parts.assertOpen()
    for (;;) {
      const decide = (found: RunToChange) => decideAction(found, action, by)
      const result = await adapter.changeRun({ runId, keepAttempts, decide })
      if (result === null) throw unknownRun({ runId })
      if (!result.changed) return false
      if (!isTerminal(result.run.status)) continue
      this.#report(runId, action, by, result)
      return true
    }
  }

  /** Steps became claimable. */
  queued(): void {
    this.#parts.onQueued()
  }

  /** Stops runs. Returns the ids of those that this call stopped. */
  async cancelAll(runIds: readonly string[], by: Actor, compensate: boolean): Promise<readonly string[]> {
    const { adapter, events, onRunsChanged, onStopped } = this.#parts
    this.#parts.assertOpen()
    await adapter.open()
    const stopped = await adapter.cancelRuns({ runIds, ...cancellation(by, compensate) })
    const stoppedIds = stopped.map(({ runId }) => runId)
    onRunsChanged(stopped)
    for (const runId of stoppedIds)
      events.emit('operator.acted', { runId, action: 'cancel', step: undefined, ...eventFields(by) })
    if (stoppedIds.length > 0) onStopped(stoppedIds)
    return stoppedIds
  }

  /** Resolves to whether this call stopped the run. */
  async cancel(runId: string, options: CancelOptions): Promise<boolean> {
    const { compensate, tx, ...own } = checkOptions('cancel()', options, CANCEL_WITHIN_OPTIONS)
    const by = actorOf(own)
    if (tx !== undefined) return (await this.act(runId, { type: 'cancel', compensate }, by, tx)).changed
    const stopped = await this.cancelAll([runId], by, compensate)
    if (stopped.length > 0) return true
    return (await this.act(runId, { type: 'cancel', compensate }, by)).changed
  }

  async skipStep(
    runId: string,
    step: string,
    options: ActionOptions & { output?: unknown },
  ): Promise<ActionResult> {
    const call = 'skipStep()'
    checkStepArgument(call, step)
    const { output: given, ...action } = checkOptions(call, options, SKIP_OPTIONS)
    const what = `Stand-in output of step "${step}" of run ${runId}`
    const output = toJsonText(given, this.#parts.payloadMaxBytes, () => ({
      what,
      runId,
      step,
      log: this.#parts.log,
    }))
    return this.act(runId, { type: 'skip_step', step, output }, actorOf(action))
  }

  async giveUpStep(runId: string, step: string, options: ActionOptions): Promise<StepRepair> {
    checkStepArgument('giveUpStep()', step)
    const by = checkActionOptions('giveUpStep()', options)
    const { reason } = by
    if (reason === null || reason.trim() === '') {
      throw new BelayError(
        'invalid_option',
        'giveUpStep(): reason must be given: say how you know that the handler will not end.',
      )
    }
    const { repair } = await this.act(runId, { type: 'give_up_step', step, reason }, by)
    this.#parts.onStopped([runId])
    return repair!
  }

  async migrate(runId: string, workflow: WorkflowDefinition, options: ActionOptions): Promise<boolean> {
    const by = checkActionOptions('migrateRun()', options)
    const definition = await this.savedDefinition('migrateRun()', workflow)
    return (await this.act(runId, { type: 'migrate', definition }, by)).changed
  }

  /** Saves the definition to which a run is moved. Throws `unknown_workflow` if it is not a definition. */
  async savedDefinition(call: string, workflow: WorkflowDefinition): Promise<SavedDefinition> {
    checkDefinition(call, workflow)
    this.#parts.assertOpen()
    await this.#parts.adapter.open()
    // Not from memory: a run must never be moved to a definition that the store has lost.
    return this.#parts.registry.saveAgain(workflow)
  }

  /** The actions of operators on a run and the signals it received, oldest first. */
  async history(
    runId: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly RunHistoryEntry[]> {
    const { limit } = checkOptions('history()', options, HISTORY_OPTIONS)
    const { adapter } = this.#parts
    await adapter.open()
    const records = await adapter.readHistory({ runId, limit })
    if (records.length === 0 && (await adapter.findRun({ runId })) === null) throw unknownRun({ runId })
    return records.map(historyEntry)
  }

  /** Explains what a run waits for. */
  async explain(runId: string, options: ExplainOptions = {}): Promise<Explanation> {
    const checked = checkOptions('explain()', options, EXPLAIN_OPTIONS)
    this.#parts.assertOpen()
    await this.#parts.adapter.open()
    return explainStored(this.#parts.adapter, runId, checked)
  }

  #report(runId: string, action: Action, by: Actor, { from, run, queued, drains }: ActionResult): void {
    const { events, onRunsChanged, onMoved, onQueued, onStopped } = this.#parts
    const step = 'step' in action ? action.step : undefined
    events.emit('operator.acted', { runId, action: action.type, step, ...eventFields(by) })
    if (from !== run.status) onRunsChanged([run])
    // The steps of an ended run were replaced: cached payloads are stale.
    else if (isTerminal(from)) onMoved(runId)
    if (queued) onQueued()
    if (drains) onStopped([runId])
  }
}

function eventFields({ actor, reason }: Actor): {
  readonly by: string | undefined
  readonly reason: string | undefined
} {
  return { by: actor ?? undefined, reason: reason ?? undefined }
}
