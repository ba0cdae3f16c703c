import type { ChangedRun, StepStatus, StoredRunStatus } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { type Changed, dryRun, type MachineEvent, type Run } from '../../machine/index.ts'
import { nameOf } from '../../machine/shown.ts'
import { specOfShape } from '../../machine/spec-of-shape.ts'
import {
  type Code,
  codeOf,
  type Delivered,
  deliver,
  type MailEvent,
  Owner,
  readRun,
} from '../../owner/index.ts'
import { OPERATOR } from '../asker/operator.ts'
import { type Runtime, stillnessOf } from '../base/runtime.ts'
import type { Action, ActionResult } from '../control/action.ts'
import type { Actor } from '../control/change-of.ts'
import { type ControlParts as Parts, Control as Stored } from '../control/control.ts'
import { unknownRun } from '../runs/run-reference.ts'
import { unknownStep } from '../runs/unknown-step.ts'
import { changedRun, type OwnedAdapter, storeOf } from './owned-store.ts'

export { CANCEL_OPTIONS, type CancelOptions } from '../control/control.ts'

export type ControlParts = Parts & {
  readonly runtime: Runtime
  readonly leaseMs: number
  readonly tickMs: number
}

/** Operators' actions as mail to whoever owns the run. A run that nobody owns is taken for as long as that needs. */
export class Control extends Stored {
  readonly #parts: ControlParts
  readonly #adapter: OwnedAdapter
  #operator: Promise<Owner> | undefined

  constructor(parts: ControlParts) {
    super(parts)
    this.#parts = parts
    this.#adapter = storeOf(parts.adapter)
  }

  override async act(runId: string, action: Action, by: Actor, tx?: unknown): Promise<ActionResult> {
    this.#parts.assertOpen()
    if (tx !== undefined) throw new Error('Actions in transactions are not there yet.')
    const before = await this.#read(runId)
    const unit = 'step' in action ? await this.#unitOf(runId, action, before) : undefined
    const event = eventOf(action, by, unit)
    const payload = action.type === 'skip_step' ? action.output : null
    const [delivered] = await this.#deliver([runId], event, payload)
    const result = this.#resultOf({
      runId,
      action,
      delivered: delivered!,
      before,
      run: await this.#read(runId),
    })
    if (result.changed) this.#told(runId, action, by)
    return result
  }

  override async cancelAll(
    runIds: readonly string[],
    by: Actor,
    compensate: boolean,
  ): Promise<readonly string[]> {
    this.#parts.assertOpen()
    const action: Action = { type: 'cancel', compensate }
    const delivered = await this.#deliver(runIds, eventOf(action, by, undefined), null)
    const stopped = runIds.filter((_, place) => isChanged(delivered[place]!))
    for (const runId of stopped) this.#told(runId, action, by)
    return stopped
  }

  override async drop(runId: string, by: Actor): Promise<boolean> {
    return (await this.act(runId, { type: 'drop' }, by)).changed
  }

  /** Decides an action on a copy of the run as it is stored. */
  override async wouldAct(runId: string, action: Action, by: Actor): Promise<ActionResult> {
    this.#parts.assertOpen()
    const before = await this.#read(runId)
    const unit = 'step' in action ? await this.#unitOf(runId, action, before) : undefined
    const run = await this.#loaded(runId, before)
    const event = eventOf(action, by, unit) as MachineEvent
    // Nobody knows here whether a handler was called. What the answer to an operator will be, its owner says.
    const asked = unit === undefined ? event : ({ ...event, idle: true } as MachineEvent)
    const { answer } = dryRun(run, asked, await this.#parts.adapter.now())
    return this.#resultOf({ runId, action, delivered: { result: 'applied', answer }, before, run: before })
  }

  async #loaded(runId: string, { run: { definitionId } }: Read): Promise<Run> {
    const [stored] = await this.#adapter.store.peek([runId])
    return readRun((await this.#codeOf(definitionId))!, stored!)
  }

  #told(runId: string, action: Action, { actor, reason }: Actor): void {
    const step = 'step' in action ? action.step : undefined
    const told = { by: actor ?? undefined, reason: reason ?? undefined }
    this.#parts.events.emit('operator.acted', { runId, action: action.type, step, ...told })
  }

  async #deliver(
    runIds: readonly string[],
    event: MailEvent,
    payload: string | null,
  ): Promise<readonly Delivered[]> {
    const operator = await this.#opened()
    const text = JSON.stringify(event)
    const mail = runIds.map((run) => ({ run, key: this.#parts.runtime.newId(), event: text, payload }))
    return deliver(operator, mail, { operates: true })
  }

  /** The process’s own identity without slots. */
  #opened(): Promise<Owner> {
    this.#operator ??= this.#open()
    return this.#operator
  }

  async #open(): Promise<Owner> {
    const { adapter, log, runtime, leaseMs, tickMs, onRunsChanged } = this.#parts
    await adapter.open()
    const owner = new Owner({
      ...{ store: this.#adapter.store, log, leaseMs, tickMs, name: 'operator', slots: 0, codes: new Map() },
      ...{ clock: runtime.clock, newId: runtime.newId, stillness: stillnessOf(adapter, runtime) },
      asker: OPERATOR,
      codeOf: (definition) => this.#codeOf(definition),
      onTurned: (owned, finishedAt) => onRunsChanged([changedRun(owned, finishedAt, owner.now())]),
    })
    await owner.start()
    this.#adapter.onClose(() => owner.stop(0))
    return owner
  }

  async #codeOf(definition: number): Promise<Code | undefined> {
    const [saved] = await this.#parts.adapter.readDefinitions([definition])
    return saved && codeOf(saved.id, saved.name, specOfShape(saved.shape))
  }

  async #read(runId: string) {
    const found = await this.#parts.adapter.readRun(runId)
    if (found === null) throw unknownRun({ runId })
    return found
  }

  async #unitOf(runId: string, action: StepAction, read: Read): Promise<number> {
    const { step } = action
    const { run: record, steps } = read
    const run = await this.#loaded(runId, read)
    const name = step.endsWith('[]') ? step.slice(0, -2) : step
    const unit = run.units.find((each) => each !== undefined && each.scope !== null && nameOf(each) === name)
    const decides = name === step || action.type !== 'skip_step' ? undefined : unit?.kind.decides
    if (decides !== undefined) {
      const what = `Step "${step}" of run ${runId} cannot be skipped: ${decides.because}.`
      throw refusal(runId, action, { code: 'action_refused', what, remedy: decides.remedy })
    }
    if (unit !== undefined) return unit.no
    throw unknownStep(
      record,
      steps.map((each) => each.name),
      step,
    )
  }

  #resultOf({ runId, action, delivered, before, run: { run, steps } }: Acted): ActionResult {
    const answer = 'answer' in delivered ? delivered.answer : undefined
    if (typeof answer === 'object' && 'refused' in answer) throw refusal(runId, action, answer.refused)
    const changed = isChanged(delivered)
    const { status, definitionId, key, tags, createdAt, finishedAt, startAt, readAt } = run
    const durationMs = Math.max(0, (finishedAt ?? readAt) - Math.max(createdAt, startAt ?? createdAt))
    const shown: ChangedRun = { runId, definitionId, status: storedOf(status), key, tags, durationMs }
    const told = typeof answer === 'object' && 'steps' in answer ? (answer as Changed).steps : []
    const step = 'step' in action ? action.step : undefined
    const own = told.find(({ name }) => name === step)
    const now = steps.find(({ name }) => name === step)?.status ?? 'pending'
    const was = before.steps.find(({ name }) => name === step)?.status ?? now
    return {
      ...{ changed, from: storedOf(before.run.status), run: shown, queued: false, drains: false },
      ...(step === undefined
        ? {}
        : {
            repair: {
              from: was,
              to: (own?.to ?? was) as StepStatus,
              next: told.filter(({ name, to }) => name !== step && BEGINS.has(to)).map(({ name }) => name),
            },
          }),
    }
  }
}

const BEGINS: ReadonlySet<string> = new Set(['ready', 'running', 'compensating'])

const SHOWN_OF_RUNNING: ReadonlySet<string> = new Set(['scheduled', 'waiting', 'parked'])

const storedOf = (status: string): StoredRunStatus =>
  (SHOWN_OF_RUNNING.has(status) ? 'running' : status) as StoredRunStatus

type StepAction = Extract<Action, { readonly step: string }>

type Read = NonNullable<Awaited<ReturnType<OwnedAdapter['readRun']>>>

interface Acted {
  readonly runId: string
  readonly action: Action
  readonly delivered: Delivered
  readonly before: Read
  readonly run: Read
}

const isChanged = (delivered: Delivered): boolean =>
  'answer' in delivered &&
  typeof delivered.answer === 'object' &&
  'changed' in delivered.answer &&
  delivered.answer.changed

function eventOf(action: Action, { reason, isParent }: Actor, unit: number | undefined): MailEvent {
  const by = isParent === true ? { by: 'parent' as const } : {}
  switch (action.type) {
    case 'pause':
    case 'resume':
    case 'retry':
      return { type: action.type, ...by }
    case 'cancel':
      return { type: 'cancel', compensate: action.compensate, reason: reason ?? '' }
    case 'set_priority':
      return { type: 'setPriority', priority: action.priority }
    case 'retry_step':
      return { type: 'retryStep', unit: unit! }
    case 'skip_step':
      return { type: 'skipStep', unit: unit! }
    case 'give_up_step':
      return { type: 'giveUp', unit: unit!, reason: action.reason }
    case 'retry_compensation':
      return { type: 'retryUndo', unit: unit! }
    case 'skip_compensation':
      return { type: 'skipUndo', unit: unit! }
    case 'drop':
      return { type: 'drop' }
    case 'undo':
      return { type: 'undoRun' }
    case 'migrate':
      throw new Error('Migrations are not there yet.')
  }
}

function refusal(
  runId: string,
  action: Action,
  {
    code,
    what,
    remedy,
  }: { readonly code: 'action_refused' | 'invalid_option'; readonly what: string; readonly remedy?: string },
): BelayError {
  const step = 'step' in action ? { step: action.step } : {}
  const cannot = what.indexOf(' cannot be ')
  return new BelayError(code, what, {
    runId,
    ...step,
    ...(cannot < 0 ? {} : { refusal: what.slice(cannot + 1) }),
    ...(remedy === undefined ? {} : { remedy }),
  })
}
