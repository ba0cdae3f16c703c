import type {
  Adapter,
  CallerTransaction,
  Delivery,
  FoundRun,
  NewSignal,
  StepShape,
  WaitKind,
} from '../../adapter/index.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { SignalWait } from '../../definition/wait.ts'
import { StoreContendedError } from '../../errors.ts'
import { anything, checkOptions, key, type OptionTable, string } from '../../options/index.ts'
import type { CallSettings } from '../base/call-settings.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { toJsonText } from '../base/payload.ts'
import { checkStepArgument } from '../control/options.ts'
import type { Decision } from '../decisions/decide-wait.ts'
import { findRun, type RunLookup, unknownRun } from '../runs/run-reference.ts'
import { type KnownStep, notReceiving, receivingChild } from './receiving-step.ts'
import { assertSamePayload, checkedPayload, isSameDecision, payloadHash } from './signal-content.ts'

export interface SignalOptions {
  /**
   * Identifies the event behind the signal, like a webhook's id; 1 to 512 characters. A step records each key once, so sending a signal again is
   * harmless. After a step that failed on its signal is retried, the key may be used again. Default: a random key.
   */
  readonly key?: string | undefined
  /**
   * The caller's open transaction on the engine's database, as `engine.run()` takes it. The signal exists once it commits. Until then the step is
   * locked, and other calls that need it wait.
   */
  readonly tx?: CallerTransaction | undefined
}

/** Options of approve(). */
export interface ApproveOptions<Payload = unknown> extends RejectOptions {
  /** The payload, checked by the approval's schema. */
  readonly payload?: Payload
}

/** Options of reject(). */
export interface RejectOptions extends SignalOptions {
  /** Who decides; 1 to 512 characters. */
  readonly by: string
  /** Up to 10,000 characters. */
  readonly comment?: string | undefined
}

const SIGNAL_OPTIONS = {
  key: { sets: 'the event behind the signal', takes: key },
  tx: { sets: 'the transaction that the signal is part of', takes: anything },
} satisfies OptionTable

const REJECT_OPTIONS = {
  by: { sets: 'who decides', takes: string(1, 512), required: true },
  comment: { sets: 'the comment on the decision', takes: string(0, 10_000) },
  ...SIGNAL_OPTIONS,
} satisfies OptionTable

const APPROVE_OPTIONS = {
  ...REJECT_OPTIONS,
  payload: { sets: "the approval's payload", takes: anything },
} satisfies OptionTable

/** The result of sending a signal or decision. */
export interface SignalReceipt {
  readonly runId: string
  readonly step: string
  readonly key: string
  /**
   * `delivered`: the step was waiting and continues. `kept`: the step gets the signal when its wait begins. `duplicate`: the same key or the same
   * decision was already recorded. `ignored`: nothing was recorded; see `reason`.
   */
  readonly result: 'delivered' | 'kept' | 'duplicate' | 'ignored'
  /**
   * `signalled`: the step already has another signal. `timed_out`: its timeout came first. `step_over`, `run_over`: the step or the run has ended.
   */
  readonly reason: 'signalled' | 'timed_out' | 'step_over' | 'run_over' | undefined
  /** False when this process does not have the run's version of the workflow: the payload was recorded unchecked. */
  readonly checked: boolean
}

export interface SignalsParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly settings: CallSettings
  /** Steps of this definition became ready. */
  readonly onDelivered: (definitionId: number) => void
}

/** A checked signal, to be recorded. */
interface Sending extends Receiver {
  readonly signal: NewSignal
}

/** The step that a signal is for, and whether this process knows its schema. */
interface Receiver {
  readonly run: FoundRun
  readonly step: Pick<StepDefinition, 'name' | 'number'>
  readonly checked: boolean
}

function isWaitKind(kind: StepShape['kind']): kind is WaitKind {
  return kind !== undefined && kind !== 'map' && kind !== 'repeat' && kind !== 'join' && kind !== 'choose'
}

/** Sends signals and decisions to runs: checks and records them, and wakes workers. */
export class Signals {
  readonly #parts: SignalsParts

  constructor(parts: SignalsParts) {
    this.#parts = parts
  }

  async send(
    target: RunLookup,
    name: string,
    payload: unknown,
    options: SignalOptions = {},
  ): Promise<SignalReceipt> {
    checkStepArgument('signal()', name)
    const { tx, key = this.#newKey() } = checkOptions('signal()', options, SIGNAL_OPTIONS)
    const { settings } = this.#parts
    const prepare = async () => {
      const { schema, ...receiver } = await this.#find({ target, name, kind: 'signal', tx })
      const { workflow } = receiver.run
      const valid = await checkedPayload(settings, { workflow, step: name }, schema, payload)
      return this.#sending(receiver, { key, actor: null, ...valid, given: payload })
    }
    const { sending, delivery } = await this.#deliver(prepare, tx)
    assertSamePayload(sending, delivery)
    return receipt(sending, delivery)
  }

  async approve(target: RunLookup, name: string, options: ApproveOptions): Promise<SignalReceipt> {
    checkStepArgument('approve()', name)
    const made = checkOptions('approve()', options, APPROVE_OPTIONS)
    return this.#decide(target, name, { ...made, approved: true })
  }

  async reject(target: RunLookup, name: string, options: RejectOptions): Promise<SignalReceipt> {
    checkStepArgument('reject()', name)
    const made = checkOptions('reject()', options, REJECT_OPTIONS)
    return this.#decide(target, name, { ...made, approved: false })
  }

  async #decide(
    target: RunLookup,
    name: string,
    made: { readonly approved: boolean; readonly tx: unknown } & Omit<ApproveOptions, 'tx'>,
  ): Promise<SignalReceipt> {
    const { approved, by, comment, tx, key = this.#newKey() } = made
    const { settings } = this.#parts
    const prepare = async () => {
      const { schema, ...receiver } = await this.#find({ target, name, kind: 'approval', tx })
      const place = { workflow: receiver.run.workflow, step: name }
      const valid = approved ? await checkedPayload(settings, place, schema, made.payload) : undefined
      const at = new Date(await this.#parts.adapter.now({ tx })).toISOString()
      const decision: Decision = {
        approved,
        by,
        at,
        ...(comment === undefined ? {} : { comment }),
        ...(valid?.payload === undefined ? {} : valid),
      }
      return this.#sending(receiver, { key, actor: by, payload: decision, given: made.payload })
    }
    const { sending, delivery } = await this.#deliver(prepare, tx)
    const same = isSameDecision(sending, delivery)
    return receipt(sending, same ? { result: 'duplicate', recorded: null } : delivery)
  }

  #newKey(): string {
    return this.#parts.settings.runtime.newId()
  }

  /** Finds the run, its definition in this process or in the store, and the step, which must accept signals of this kind. */
  async #find(wanted: {
    readonly target: RunLookup
    readonly name: string
    readonly kind: SignalWait['kind']
    readonly tx: unknown
  }): Promise<Receiver & Pick<SignalWait, 'schema'>> {
    const { adapter, registry, settings } = this.#parts
    const { target, name, kind, tx } = wanted
    const run = await findRun(adapter, target, tx)
    const workflow = await registry.find(run, settings.workflows, tx)
    // The store keeps the names and kinds of steps, but no schemas.
    const steps: readonly KnownStep[] = workflow?.steps ?? (await this.#storedSteps(run, tx))
    const step = steps.find((candidate) => candidate.name === name && candidate.wait?.kind === kind)
    if (step === undefined) {
      const elsewhere = tx === undefined ? await receivingChild(this.#parts, run, { name, kind }) : ''
      throw notReceiving(run, steps, { name, kind }, elsewhere)
    }
    return { run, step, schema: step.wait?.schema, checked: workflow !== undefined }
  }

  /** The steps of a run's definition, from the store. */
  async #storedSteps({ runId, definitionId }: FoundRun, tx: unknown): Promise<readonly KnownStep[]> {
    const { adapter, registry } = this.#parts
    if (tx === undefined) await registry.learn([definitionId])
    // Do not cache a definition that a transaction saved: a rollback removes it.
    const [stored = registry.recordOf(definitionId)] =
      tx === undefined ? [] : await adapter.readDefinitions([definitionId], { tx })
    if (stored === undefined) throw unknownRun({ runId })
    return stored.shape.steps.map(({ name, kind }, number) => {
      return { name, number, wait: isWaitKind(kind) ? { kind } : null }
    })
  }

  #sending(
    receiver: Receiver,
    sent: Pick<NewSignal, 'key' | 'actor'> & { readonly payload: unknown; readonly given: unknown },
  ): Sending {
    const { run, step } = receiver
    const { runId, definitionId } = run
    const { key, actor, payload, given } = sent
    const text = toJsonText(payload, this.#parts.settings.payloadMaxBytes, () => ({
      what: `Payload for step "${step.name}" of run ${runId}`,
      runId,
      step: step.name,
      log: this.#parts.settings.log,
      subject: `Payload for step "${step.name}"`,
    }))
    const content = { payload: text, payloadHash: payloadHash(given) }
    return { ...receiver, signal: { runId, definitionId, step: step.number, key, actor, ...content } }
  }

  async #deliver(
    prepare: () => Promise<Sending>,
    tx: unknown,
  ): Promise<{ sending: Sending; delivery: Delivery }> {
    const { adapter, onDelivered } = this.#parts
    for (let look = 1; ; look += 1) {
      const sending = await prepare()
      const [delivery] = await adapter.deliverSignals([sending.signal], { tx })
      // The run was pruned or moved to another version between lookup and delivery: look it up again.
      if (delivery!.result === 'unknown' && look < LOOKS_MAX) continue
      if (delivery!.result === 'unknown') throw movesAllTheTime(sending.run)
      // Within a transaction the step becomes ready at the commit: the adapter then wakes workers.
      if (delivery!.result === 'delivered' && tx === undefined) onDelivered(sending.run.definitionId)
      return { sending, delivery: delivery! }
    }
  }
}

const LOOKS_MAX = 5

function receipt({ run, step, signal, checked }: Sending, delivery: Delivery): SignalReceipt {
  return {
    runId: run.runId,
    step: step.name,
    key: signal.key,
    result: delivery.result as SignalReceipt['result'],
    reason: delivery.result === 'ignored' ? delivery.reason : undefined,
    checked,
  }
}

/** The run was moved during every lookup. (A pruned run would not be found by the next lookup.) */
function movesAllTheTime({ runId }: FoundRun): StoreContendedError {
  const message = `Run ${runId} moved to another version each time the signal was about to be recorded. Nothing was recorded; send it again.`
  return new StoreContendedError(message, { runId })
}
