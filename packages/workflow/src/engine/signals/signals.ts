import type { Adapter, Delivery, FoundRun, NewSignal, WaitKind } from '../../adapter/index.ts'
import { validatePayload } from '../../definition/input-schema.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { SignalWait } from '../../definition/wait.ts'
import { BelayError, StoreContendedError } from '../../errors.ts'
import { didYouMean } from '../../graph/index.ts'
import { listed } from '../../graph/place.ts'
import { anything, checkOptions, key, type OptionTable, string } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import type { CallSettings } from '../base/call-settings.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { toJsonText } from '../base/payload.ts'
import { checkStepArgument } from '../control/options.ts'
import type { Decision } from '../decisions/decide-wait.ts'
import { findRun, type RunLookup, unknownRun } from '../runs/run-reference.ts'
import { assertSamePayload, isSameDecision, payloadHash } from './signal-content.ts'

export interface SignalOptions {
  /**
   * Names the event behind it, like a webhook's id; 1 to 512 characters. The same key for the same step is recorded once, so that sending a
   * signal again is harmless. A step that failed on its signal and is retried asks anew: from then on the key may be sent again. Default: one
   * that is never the same.
   */
  readonly key?: string | undefined
  /**
   * An open transaction of the caller's on the engine's database, as `engine.run()` takes it: the signal is there once it commits. Its step is
   * held until then: whoever wants it waits.
   */
  readonly tx?: unknown
}

/** Somebody's yes to an approval. */
export interface ApproveOptions<Payload = unknown> extends RejectOptions {
  /** What the approval's schema asks for. */
  readonly payload?: Payload
}

/** Somebody's no. */
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
  comment: { sets: 'what whoever decides has to say', takes: string(0, 10_000) },
  ...SIGNAL_OPTIONS,
} satisfies OptionTable

const APPROVE_OPTIONS = {
  ...REJECT_OPTIONS,
  payload: { sets: "what the approval's schema asks for", takes: anything },
} satisfies OptionTable

/** What became of a signal or decision. */
export interface SignalReceipt {
  readonly runId: string
  readonly step: string
  readonly key: string
  /**
   * `delivered`: the step waited for it and goes on. `kept`: the step takes it when its turn comes. `duplicate`: the same was recorded before,
   * under this key or as the same decision. `ignored`: nothing was recorded, for the `reason` given.
   */
  readonly result: 'delivered' | 'kept' | 'duplicate' | 'ignored'
  /** `signalled`: the step has another signal. `timed_out`: its timeout came first. `step_over`, `run_over`: it waits for nothing any more. */
  readonly reason: 'signalled' | 'timed_out' | 'step_over' | 'run_over' | undefined
  /** False when this process does not know the version that the run follows: the payload was taken as it is, without its step's schema. */
  readonly checked: boolean
}

export interface SignalsParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly settings: CallSettings
  /** Steps of this definition became ready. */
  readonly onDelivered: (definitionId: number) => void
}

/** What is recorded when everything has been checked. */
interface Sending extends Receiver {
  readonly signal: NewSignal
}

/** The step that a signal is for, and whether this process knows its schema. */
interface Receiver {
  readonly run: FoundRun
  readonly step: Pick<StepDefinition, 'name' | 'number'>
  readonly checked: boolean
}

/** What is known of a step: all of its definition, or what the store has of it. */
interface KnownStep {
  readonly name: string
  readonly number: number
  readonly wait: { readonly kind: WaitKind; readonly schema?: SignalWait['schema'] } | null
}

/** Sends signals and decisions to runs: checks all that can be checked, records, and wakes who may go on. */
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
    const prepare = async () => {
      const { schema, ...receiver } = await this.#find({ target, name, kind: 'signal', tx })
      const { workflow } = receiver.run
      const valid = await validatePayload({ workflow, step: name }, schema, payload)
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
    made: { readonly approved: boolean } & ApproveOptions,
  ): Promise<SignalReceipt> {
    const { approved, by, comment, tx, key = this.#newKey() } = made
    const prepare = async () => {
      const { schema, ...receiver } = await this.#find({ target, name, kind: 'approval', tx })
      const place = { workflow: receiver.run.workflow, step: name }
      const valid = approved ? await validatePayload(place, schema, made.payload) : undefined
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

  /** Finds the run, its definition as this process or the store knows it, and the step, which must take signals of this kind. */
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
    // The store has names and kinds of steps, and no schemas.
    const steps = workflow?.steps ?? (await this.#storedSteps(run, tx))
    const step = signalStep(run, steps, name, kind)
    return { run, step, schema: step.wait?.schema, checked: workflow !== undefined }
  }

  /** The steps of a run's definition as they are stored. */
  async #storedSteps({ runId, definitionId }: FoundRun, tx: unknown): Promise<readonly KnownStep[]> {
    const { adapter, registry } = this.#parts
    if (tx === undefined) await registry.learn([definitionId])
    // What a transaction has saved is not learnt: it is gone when that is rolled back.
    const [stored = registry.recordOf(definitionId)] =
      tx === undefined ? [] : await adapter.readDefinitions([definitionId], { tx })
    if (stored === undefined) throw unknownRun({ runId })
    return stored.shape.steps.map(({ name, kind }, number) => {
      return { name, number, wait: kind === undefined ? null : { kind } }
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
      // Between the look and the delivery the run was pruned, or moved to another version: a second look tells.
      if (delivery!.result === 'unknown' && look < LOOKS_MAX) continue
      if (delivery!.result === 'unknown') throw movesAllTheTime(sending.run)
      // What a transaction makes ready is so when it commits: the adapter tells of it then.
      if (delivery!.result === 'delivered' && tx === undefined) onDelivered(sending.run.definitionId)
      return { sending, delivery: delivery! }
    }
  }
}

const LOOKS_MAX = 5

/** @throws BelayError `invalid_option` that names the steps that could have been meant. */
function signalStep(
  run: FoundRun,
  steps: readonly KnownStep[],
  name: string,
  kind: SignalWait['kind'],
): KnownStep {
  const step = steps.find((candidate) => candidate.name === name)
  if (step?.wait?.kind === kind) return step
  const names = steps.filter(({ wait }) => wait?.kind === kind).map((candidate) => candidate.name)
  const what = kind === 'signal' ? 'a signal' : 'an approval'
  const known = names.length === 0 ? `None of its steps waits for ${what}.` : `These do: ${listed(names)}.`
  throw new BelayError(
    'invalid_option',
    `Workflow "${run.workflow}" version ${run.version} ${mismatch(step, name, what)}${didYouMean(name, names)} ${known}`,
    { runId: run.runId, step: name },
  )
}

function mismatch(step: KnownStep | undefined, name: string, what: string): string {
  if (step === undefined) return `has no step ${shown(name)}.`
  switch (step.wait?.kind) {
    case 'approval':
      return `has a step "${name}" that waits for an approval: use approve() or reject().`
    case 'signal':
      return `has a step "${name}" that waits for a signal: use signal().`
    default:
      return `has a step "${name}" that does not wait for ${what}.`
  }
}

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

/** A run that was pruned meanwhile is not found at the next look. */
function movesAllTheTime({ runId }: FoundRun): StoreContendedError {
  const message = `Run ${runId} moved to another version each time the signal was about to be recorded. Nothing was recorded; send it again.`
  return new StoreContendedError(message, { runId })
}
