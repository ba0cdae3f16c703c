import { type FoundRun, isTerminal, type RunStatus } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import type { StepContext } from '../../definition/handler.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { PermanentError } from '../../handler-errors.ts'
import type { ChildRuns, StepWithChild } from '../attempt/child-runs.ts'
import { isContended, isUnavailable, type OutageWatch } from '../base/outage.ts'
import { fromJsonText } from '../base/payload.ts'
import { pause } from '../base/runtime.ts'
import { answerOf } from '../base/user-code.ts'
import type { Control } from '../control/control.ts'
import { alignPause, byParent, ignoreEnded, wasDoneByParent } from '../control/family.ts'
import type { ChildState, ChildUndo } from '../decisions/decide-child.ts'
import { readRun } from '../runs/read-run.ts'
import { outputsOf } from '../runs/run-snapshot.ts'
import { type StartChildParts, startChild } from '../start/start-child.ts'
import { childKey } from './child-key.ts'
import { checkDepth } from './depth.ts'

export interface ChildrenParts extends StartChildParts {
  readonly outage: OutageWatch
  readonly control: Pick<Control, 'act'>
}

/** A run that has the key of a step's child. */
interface FoundChild {
  readonly runId: string
  readonly workflow: string
  /** False if the run was not started by the step. */
  readonly isOwn: boolean
}

/**
 * Starts, looks at and undoes the children of steps. Every call may be repeated: the child's key finds what an earlier attempt has done, also one
 * whose worker is dead.
 */
export class Children implements ChildRuns {
  readonly #parts: ChildrenParts

  constructor(parts: ChildrenParts) {
    this.#parts = parts
  }

  follow(step: StepWithChild, context: StepContext): Promise<ChildState> {
    // A start whose answer was lost may have started it.
    let mayBeNew = false
    return this.#persistently(context, async () => {
      const key = childKey(step, context)
      let found = await this.#findOwn(step, key)
      const isEarlier = step.isFirst && found !== null && !mayBeNew
      mayBeNew = true
      found ??= await this.#start(step, context, key)
      if (step.wait.detached) return { type: 'detached', runId: found.runId }
      return this.#look(step, found, step.retried || isEarlier)
    })
  }

  undo(step: StepWithChild, context: StepContext): Promise<ChildUndo> {
    return this.#persistently(context, async () => {
      const key = childKey(step, context)
      const found = (await this.#find(step, key)) ?? (await this.#bury(step, key))
      if (found?.isOwn !== true) return 'over'
      // It may complete, or end, between the look and the action. What is paused in its undo stays as it is.
      for (let look = 1; ; look += 1) {
        const status = await this.#statusOf(found.runId)
        if (status === 'completed' && step.wait.keepsEffects) return 'kept'
        if (status !== 'completed' && isTerminal(status)) return 'over'
        if (look === LOOKS_MAX || status === 'compensating' || status === 'compensation_failed') return 'open'
        await this.#stop(step, found.runId, status)
      }
    })
  }

  /** The run that has the child's key, if there is one. */
  async #find({ claim, wait }: StepWithChild, key: string): Promise<FoundChild | null> {
    const workflow = typeof wait.of === 'string' ? wait.of : wait.of.name
    const found = await this.#parts.adapter.findRun({ workflow, key })
    if (found === null) return null
    const { runId, parent } = found
    return { runId, workflow, isOwn: parent?.runId === claim.runId && parent.step === claim.step }
  }

  async #findOwn(step: StepWithChild, key: string): Promise<FoundChild | null> {
    const found = await this.#find(step, key)
    if (found === null || found.isOwn) return found
    throw new PermanentError(
      `Step "${step.step.name}" of run ${step.claim.runId} cannot start its child: key "${key}" of workflow "${found.workflow}" belongs to run ${found.runId}, which is not its child. Give each child a key of its own.`,
    )
  }

  async #start(step: StepWithChild, context: StepContext, key: string): Promise<FoundChild> {
    const { claim, wait } = step
    const parent = await checkDepth(this.#parts, step)
    const input: unknown = wait.computesInput ? await this.#computedInput(step, context) : givenInput(context)
    const child = {
      key,
      input,
      parent: { runId: claim.runId, step: claim.step },
      parentFence: claim.fence,
      reportsEnd: !wait.detached,
      deadlineMs: await this.#timeLeftMs(step, parent),
      priority: parent?.priority,
    }
    const started = await startChild(this.#parts, wait.of as WorkflowDefinition | string, child)
    if (started.created) return { ...started, isOwn: true }
    // Another attempt of this step started it meanwhile, or somebody else has the key.
    return (await this.#findOwn(step, key))!
  }

  #computedInput({ claim, step }: StepWithChild, context: StepContext): unknown {
    const { clock } = this.#parts.settings.runtime
    const what = `\`input\` of step "${step.name}" of run ${claim.runId}`
    return answerOf<unknown>(clock, what, () => step.run!(context))
  }

  /**
   * A child gets no longer than its parent has left. After a pivot its parent has no deadline any more, and for a detached child nobody waits.
   */
  async #timeLeftMs({ step, wait }: StepWithChild, parent: FoundRun | null): Promise<number | undefined> {
    const deadlineAt = parent?.deadlineAt ?? null
    if (deadlineAt === null || wait.detached || step.pivotsBefore.length > 0) return undefined
    return Math.max(1, deadlineAt - (await this.#parts.adapter.now()))
  }

  /** `isRetried`: an operator lets the step run again, so a child that ended without completing runs again too. */
  async #look(step: StepWithChild, { runId, workflow }: FoundChild, isRetried: boolean): Promise<ChildState> {
    const { adapter, control } = this.#parts
    const parentId = step.claim.runId
    const statuses = await adapter.readStatuses([runId, parentId], { stored: true })
    const statusOf = (id: string) => statuses.find((found) => found.runId === id)?.status
    const status = statusOf(runId)
    const bond = { childId: runId, parentId }
    if (status === undefined) {
      throw new PermanentError(
        `Step "${step.step.name}" of run ${parentId} has lost its child: run ${runId} was deleted.`,
      )
    }
    if (status === 'completed') {
      const found = await readRun(this.#parts, runId)
      return found === null ? { type: 'open' } : { type: 'completed', outputs: outputsOf(found) }
    }
    if (isTerminal(status)) {
      // It was cancelled with its parent, without an undo, and its parent goes forward again.
      const isRevived = () =>
        status === 'cancelled' && statusOf(parentId) === 'running' && wasDoneByParent(adapter, bond, 'cancel')
      if (!isRetried && !(await isRevived())) return this.#failed(runId, workflow, status)
      // What was undone of it runs again, as after its own retry().
      await control.act(runId, { type: 'retry' }, retriedBy(step)).catch(ignoreEnded)
      return { type: 'open' }
    }
    // Whoever paused or resumed the parent may not have seen the child.
    if ((statusOf(parentId) === 'paused') !== (status === 'paused'))
      await alignPause({ adapter, act: control.act.bind(control) }, bond)
    return { type: 'open' }
  }

  async #failed(runId: string, workflow: string, status: RunStatus): Promise<ChildState> {
    const [found] = await this.#parts.adapter.load([{ runId, steps: [] }])
    const cause = fromJsonText(found?.cause ?? null) as RunCause | undefined
    return { type: 'failed', runId, workflow, status, cause }
  }

  /** Cancels the child, or undoes it if it has completed. It is left alone once that has begun. */
  async #stop({ claim, step }: StepWithChild, childId: string, status: RunStatus): Promise<void> {
    const by = byParent(claim.runId, `its parent, run ${claim.runId}, is undone (step "${step.name}")`)
    const action =
      status === 'completed' ? { type: 'undo' as const } : { type: 'cancel' as const, compensate: true }
    await this.#parts.control.act(childId, action, by)
  }

  /**
   * Takes the key of a child that was never started, with a run that never begins. A worker that was presumed dead may still be about to start the
   * child: it finds the key taken. Of a workflow that nobody has stored, no worker can start a run: workers store theirs before their first claim.
   */
  async #bury(step: StepWithChild, key: string): Promise<FoundChild | null> {
    const { claim, wait } = step
    const parent = { runId: claim.runId, step: claim.step }
    const buried = { key, parent, parentFence: claim.fence, startDelayMs: NEVER_MS, buried: true } as const
    const started = await startChild(this.#parts, wait.of as WorkflowDefinition | string, buried).catch(
      nullIfUnknown,
    )
    if (started === null) return null
    if (!started.created) return this.#find(step, key)
    await this.#stop(step, started.runId, 'running')
    return null
  }

  /** Of a child that somebody deleted, nothing is left to undo. */
  async #statusOf(runId: string): Promise<RunStatus> {
    const [found] = await this.#parts.adapter.readStatuses([runId], { stored: true })
    return found?.status ?? 'cancelled'
  }

  /** An outage of the store is no failure of the step. */
  async #persistently<Result>({ signal }: StepContext, work: () => Promise<Result>): Promise<Result> {
    const { outage, settings } = this.#parts
    for (;;) {
      try {
        const result = await work()
        outage.succeeded()
        return result
      } catch (error) {
        if (!isUnavailable(error) && !isContended(error)) throw error
        await pause(settings.runtime.clock, outage.failed(error))
        if (signal.aborted) throw signal.reason
      }
    }
  }
}

function nullIfUnknown(error: unknown): null {
  if (BelayError.is(error) && error.code === 'unknown_workflow') return null
  throw error
}

const LOOKS_MAX = 3
/** Ten years. */
const NEVER_MS = 10 * 365 * 86_400_000

/** Without a function that computes it, an item is the input of its child, and a step's child gets what the parent got. */
function givenInput(context: StepContext): unknown {
  return 'item' in context ? context.item : context.input
}

function retriedBy({ claim, step }: StepWithChild) {
  return byParent(claim.runId, `its parent, run ${claim.runId}, was retried (step "${step.name}")`)
}
