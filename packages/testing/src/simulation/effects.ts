import type { GraphHandlerContext, StepEvent, UndoReport } from '@belay/workflow'
import type { StepRecord } from '@belay/workflow/adapter'
import type { Dump, RunDump } from '../invariants/index.ts'
import {
  type CompensateOn,
  compensateOn,
  type ItemEffect,
  isItemOf,
  undoesAll,
  undoneItems,
} from './item-effects.ts'
import { isPastPivot } from './pivots.ts'
import type { Plan } from './plan.ts'
import type { Written } from './store.ts'

/** The effect behind one idempotency key. Other systems do it once, and undo it once. */
interface Effect {
  readonly key: string
  state: 'stands' | 'undone'
  /** Some attempt did it while its worker still held the step. */
  timely: boolean
  /** Attempts that did it after their signal was aborted. If one is then let go, its worker had decided so before the effect. */
  readonly afterSignal: Set<number>
  /** An operator sent the step forward again and left the effect as it was. */
  writtenOff: boolean
}

/**
 * A ledger, outside of the store, of what handlers did and undid. It reports three violations: an effect that exists twice under two keys; an effect
 * undone before it was done; and, at the end of a run, an effect that exists but that neither a completed step nor the undo report accounts for.
 */
export class Effects {
  readonly #dump: () => Promise<Dump>
  readonly #plans: ReadonlyMap<string, Plan>
  readonly #broken: (violation: string) => void
  /** The workflow of each run. */
  readonly #workflowOf = new Map<string, string>()
  /** Steps of which a handler continued after the engine stopped waiting for it. */
  readonly #letGo = new Set<string>()
  /** By run and step, then by key. */
  readonly #ledger = new Map<string, Map<string, Effect>>()
  /** The handler call that an engine has announced and makes next. */
  #next: StepEvent | undefined

  constructor(parts: {
    readonly dump: () => Promise<Dump>
    readonly plans: ReadonlyMap<string, Plan>
    readonly broken: (violation: string) => void
  }) {
    this.#dump = parts.dump
    this.#plans = parts.plans
    this.#broken = parts.broken
  }

  /** Called when an engine is about to call a handler. */
  announce(event: StepEvent): void {
    this.#next = event
    this.#workflowOf.set(event.runId, event.workflow)
  }

  /** Called by the handler. Its worker is the one that was announced. */
  called(context: GraphHandlerContext<unknown>): EffectCall {
    const { runId, step, idempotencyKey, signal } = context
    const announced = this.#next
    this.#next = undefined
    const workerId = announced?.runId === runId && announced.step === step ? announced.workerId : null
    const holder = this.#fenceOf(runId, step, workerId)
    const look = async (): Promise<Call> => {
      const isSignalled = signal.aborted
      const [held, holds] = [await holder, await this.#fenceOf(runId, step, workerId)]
      const timely = held !== null && held === holds
      return { runId, step, key: idempotencyKey, timely, signalledFence: isSignalled ? held : null }
    }
    return {
      happen: async () => this.#happened(await look()),
      undo: async () => this.#undoneBy(await look(), undoneItems(context)),
      compensateOn: (plan) => compensateOn(plan, step),
    }
  }

  /** Called when a transactional handler's write was committed. */
  committed({ runId, step, outcome, key, undone }: Written): void {
    const call: Call = { runId, step, key, timely: true, signalledFence: null }
    if (outcome === 'completed') this.#happened(call)
    else this.#undoneBy(call, undone)
  }

  /**
   * An attempt was released or timed out, but its handler may continue. Its effect is not reported once a later attempt has failed, or if the run is
   * cancelled first: a row keeps only the end of its newest attempt.
   */
  letGo(runId: string, step: string, fence?: number): void {
    this.#letGo.add(`${runId}/${step}`)
    if (fence === undefined) return
    for (const { afterSignal } of this.#of(runId, step).values()) afterSignal.delete(fence)
  }

  /** Called when an operator changed a run: an undo may have been skipped, or a step sent forward again with its effect left as it was. */
  changed(before: RunDump | undefined, after: RunDump | undefined): void {
    for (const { name, status } of after?.steps ?? []) {
      const old = before?.steps.find((step) => step.name === name)?.status ?? ''
      // An effect without compensation stays, also if the step runs again because a step it builds on was undone.
      const isLeft = LEFT_AS_IT_IS.has(old) || this.#compensateOn(after!.run.runId, name) === 'never'
      const isSentForward = (status === 'pending' || status === 'ready') && isLeft
      const isUndoSkipped =
        status === 'compensated' && (old === 'compensation_failed' || old === 'compensating')
      if (!isSentForward && !isUndoSkipped) continue
      const { runId } = after!.run
      this.#writeOff(runId, name)
      if (!isUndoSkipped || !name.endsWith('[]')) continue
      for (const item of after!.steps) if (isItemOf(item.name, name)) this.#writeOff(runId, item.name)
    }
  }

  #writeOff(runId: string, name: string): void {
    for (const effect of this.#of(runId, name).values()) effect.writtenOff = true
    // An earlier handler, for which nobody waits any more, may still do it.
    this.letGo(runId, name)
  }

  /** Called when a run has ended or is parked: all its effects must be accounted for. */
  checkEnd({ run, steps, stored }: RunDump, report: readonly UndoReport[]): void {
    for (const step of steps) {
      // A cancellation without an undo leaves effects too, and so does a stop that came too late, while a pivot completed, if an error does not prove that nothing happened.
      const plan = this.#plans.get(run.workflow)
      const isKept = stored?.stop === 'abandonment' || (plan !== undefined && isPastPivot(plan, steps))
      const isLeft = isKept && this.#compensateOn(run.runId, step.name) === 'started'
      if (isLeft) continue
      // The run continued past its failure: its error tells what is known of its effect.
      if (run.status === 'completed' && step.status === 'failed') continue
      const row = isKept || run.status === 'completed' ? step : this.#asUndone(run, step, steps)
      const named = report.find((entry) => entry.step === row.name)?.result
      for (const effect of this.#of(run.runId, step.name).values()) {
        const isLetGo = !isTimely(effect) && this.#letGo.has(`${run.runId}/${step.name}`)
        if (effect.state === 'undone' || effect.writtenOff || isLetGo) continue
        // In a completed run, an item of a map that collects failures is told to have failed.
        const isTold = run.status === 'completed' && step.status === 'failed'
        if (isTold || isAccountedFor(row, effect, named)) continue
        this.#broken(
          `the effect ${effect.key} of step ${step.name} (${step.status}) exists, but run ${run.runId} (${run.status}) does not account for it`,
        )
      }
    }
  }

  /** Of an item that is undone together with others, the row that tells of its undo: that of the step that decided them. */
  #asUndone(
    { workflow, runId }: RunDump['run'],
    step: StepRecord,
    steps: readonly StepRecord[],
  ): Pick<StepRecord, 'name' | 'status'> {
    const opener = steps.find(({ name }) => isItemOf(step.name, name))
    const plan = this.#plans.get(workflow)
    if (opener === undefined || plan === undefined || !undoesAll(plan, opener.name)) return step
    const isStarted = step.status !== 'skipped' && this.#compensateOn(runId, step.name) === 'started'
    if (step.status !== 'completed' && !step.succeeded && !isStarted) return step
    return opener.undoOf === null ? { ...step, status: 'compensated' } : opener
  }

  #happened({ runId, step, key, timely, signalledFence }: Call): void {
    const effects = this.#of(runId, step)
    const known = effects.get(key)
    if (known !== undefined) {
      note(known, timely, signalledFence)
      if (known.state === 'undone' && timely) this.#broken(`${key} was done again after it was undone`)
      return
    }
    const standing = [...effects.values()].find((effect) => {
      return effect.state === 'stands' && isTimely(effect) && !effect.writtenOff
    })
    // A step without compensation is done again, under another key, if a step it builds on was undone.
    if (standing !== undefined && timely && this.#compensateOn(runId, step) !== 'never') {
      this.#broken(
        `step ${step} of run ${runId} was done as ${key} although its effect ${standing.key} still exists`,
      )
    }
    const effect: Effect = {
      key,
      state: 'stands',
      timely: false,
      afterSignal: new Set(),
      writtenOff: false,
    }
    note(effect, timely, signalledFence)
    effects.set(key, effect)
  }

  /** By a compensation of its own, or by one that undoes all items of a map. */
  #undoneBy(call: Call, items: readonly ItemEffect[] | undefined): void {
    if (items === undefined) this.#undone(call)
    else for (const item of items) this.#undone({ ...call, ...item })
  }

  #undone({ runId, step, key: undoKey }: Call): void {
    const key = undoKey.replace(/:undo$/, '')
    const effects = this.#of(runId, step)
    const known = effects.get(key)
    if (key === undoKey) this.#broken(`${key} is the key of an undo, but does not look like one`)
    if (known === undefined && this.#compensateOn(runId, step) !== 'started') {
      this.#broken(
        `${undoKey} undid what was never done; done: ${[...effects.keys()].join(', ') || 'nothing'}`,
      )
    }
    if (known !== undefined) known.state = 'undone'
    else effects.set(key, { key, state: 'undone', timely: false, afterSignal: new Set(), writtenOff: false })
  }

  #compensateOn(runId: string, step: string): CompensateOn {
    const plan = this.#plans.get(this.#workflowOf.get(runId) ?? '')
    return plan === undefined ? 'never' : compensateOn(plan, step)
  }

  #of(runId: string, step: string): Map<string, Effect> {
    const name = `${runId}/${step}`
    const effects = this.#ledger.get(name) ?? new Map<string, Effect>()
    this.#ledger.set(name, effects)
    return effects
  }

  /** The fence of the step's attempt, if this worker holds it. */
  async #fenceOf(runId: string, name: string, workerId: string | null): Promise<number | null> {
    const { runs } = await this.#dump()
    const row = runs.find(({ run }) => run.runId === runId)?.steps.find((step) => step.name === name)
    const isHeld = row !== undefined && row.workerId === workerId && HELD.has(row.status)
    return isHeld ? row.fence : null
  }
}

/** What a called handler may do. */
export interface EffectCall {
  happen(): Promise<void>
  undo(): Promise<void>
  compensateOn(plan: Plan): CompensateOn
}

interface Call {
  readonly runId: string
  readonly step: string
  readonly key: string
  readonly timely: boolean
  /** The attempt's fence, if its signal was aborted before. */
  readonly signalledFence: number | null
}

const HELD: ReadonlySet<string> = new Set(['running', 'compensating'])
const LEFT_AS_IT_IS: ReadonlySet<string> = new Set(['failed', 'cancelled', 'compensated'])

function note(effect: Effect, timely: boolean, signalledFence: number | null): void {
  if (timely && signalledFence !== null) effect.afterSignal.add(signalledFence)
  else effect.timely ||= timely
}

function isTimely({ timely, afterSignal }: Effect): boolean {
  return timely || afterSignal.size > 0
}

function isAccountedFor(
  { status }: Pick<StepRecord, 'status'>,
  effect: Effect,
  named: UndoReport['result'] | undefined,
): boolean {
  switch (status) {
    // The step's status reports the effect. Whoever skipped the step knows of it.
    case 'completed':
    case 'skipped':
      return true
    case 'compensated':
      // A handler for which nobody waits any more may do it after it was undone.
      return !isTimely(effect)
    default:
      return named !== undefined
  }
}
