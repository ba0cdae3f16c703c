import {
  type Claim,
  heartbeatKey,
  isItem,
  itemIndex,
  itemNumber,
  type JsonText,
  mapOf,
  movesBefore,
  type NewItem,
  type RunPayloads,
  type StepPayloads,
  templateOf,
} from '../../adapter/index.ts'
import type { SerialisedError } from '../../cause.ts'
import type { BranchPolicy, StepDefinition } from '../../definition/step.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { fromJsonText } from '../base/payload.ts'
import { branchesOf, type ForwardPayloads, outputsOf, type PayloadSource } from '../base/payload-cache.ts'
import type { Runtime } from '../base/runtime.ts'
import { type BranchStep, decideBranch } from '../decisions/decide-branch.ts'
import { compensateOf, owesUndo } from '../decisions/plan-undo.ts'
import { runIsGone } from './attempt-errors.ts'
import type { EndedItem } from './joined-items.ts'
import { byNumber, readItems } from './read-items.ts'

export interface AttemptPayloadsParts {
  readonly runtime: Runtime
  readonly payloads: PayloadSource
}

/** The attempt, and how the worker got its claim. */
interface Subject {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  readonly origin: string
}

/** The payloads of one attempt: the run's input, outputs of other steps and, if needed, the step's own row. */
export class AttemptPayloads {
  readonly #subject: Subject
  readonly #parts: AttemptPayloadsParts
  #forward: ForwardPayloads | undefined
  /** Read only if the step's own row is needed: for an undo, a wait, or a retry with `retry.for`. */
  #stored: RunPayloads | undefined
  #storedAt = 0
  #items: readonly EndedItem[] | string = []
  /** Of an undo of a map whose items are undone at once. */
  #undone: readonly StepPayloads[] = []

  constructor(subject: Subject, parts: AttemptPayloadsParts) {
    this.#subject = subject
    this.#parts = parts
  }

  /** The run's input and the outputs of the dependencies. Only after prepare(). */
  get forward(): ForwardPayloads {
    return this.#forward!
  }

  /** The run as it was read. Only after prepare(), and only if the step's own row is needed. */
  get stored(): RunPayloads {
    return this.#stored!
  }

  /** The step's own row, under the conditions of {@link stored}. */
  get own(): StepPayloads {
    return this.stored.steps.find(({ step }) => step === this.#subject.claim.step)!
  }

  /** Whether the step's own row was read. */
  get isOwnRead(): boolean {
    return this.#stored !== undefined
  }

  /**
   * Finds the payloads in the cache or reads them. Returns a promise only if it must read; that rejects if reading fails, or with `unknown_run`.
   */
  prepare(): Promise<void> | undefined {
    const { claim, definition, step } = this.#subject
    const dependencies = definition.graph.dependencies[step.number]!
    if (claim.direction === 'undo') {
      if (this.#undoesItems) return this.#readUndoneItems(claim.step)
      if (!this.#needsRowForUndo || this.#knowsForUndo(dependencies)) return undefined
      return this.#readWithOwn(dependencies)
    }
    if (step.map?.part === 'join') {
      const [opener] = dependencies
      return step.map.of === 'map' ? this.#readItems(opener!) : this.#readLastRound(opener!)
    }
    if (isItem(claim.step)) return this.#prepareItem(dependencies)
    const hasWindow = claim.failures > 0 && step.retry.forMs !== null
    const mayHaveDecided = typeof step.branch?.when === 'function' && movesBefore(claim) > 0
    // An earlier attempt of this round may have left details of a heartbeat.
    if (claim.attempt > 1 || step.wait !== null || hasWindow || mayHaveDecided)
      return this.#readWithOwn(dependencies)
    // A step that was claimed before may have run or been retried elsewhere: cached payloads may be stale, so read them.
    if (movesBefore(claim) > 0) return this.#readForward(dependencies)
    this.#forward = this.#parts.payloads.known(claim.runId, dependencies, step.branch?.skippedWith)
    return this.#forward === undefined ? this.#readForward(dependencies) : undefined
  }

  /** Decides whether a step that may be skipped runs. Only after prepare(). */
  branch(policy: BranchPolicy): BranchStep {
    const { claim, definition } = this.#subject
    const { names, dependencies } = definition.graph
    const { outputs, branches } = this.forward
    return decideBranch(this.#subject, policy, {
      own: this.#stored === undefined ? null : (this.own.branch ?? null),
      nameOf: (step) => names[step]!,
      branchOf: (step) => branches?.get(step) ?? null,
      outputOf: (step) => outputs[dependencies[claim.step]!.indexOf(step)] ?? null,
    })
  }

  /** The time from the first attempt of this series of failures to now. `startedAt`: when this attempt began. */
  failingMs(startedAt: number): number {
    const now = this.#parts.runtime.clock.now()
    const since = this.#stored === undefined ? null : this.own.failingSince
    if (this.#subject.claim.failures === 0 || since === null) return now - startedAt
    return this.#stored!.now - since + (now - this.#storedAt)
  }

  /** Whether the step owes an undo; otherwise it is a relay. */
  get owesUndo(): boolean {
    const { claim, definition } = this.#subject
    if (this.#undoesItems) return this.undoneItems.length > 0
    const shape = definition.record.shape.steps[templateOf(claim.step)]!
    const compensate = isItem(claim.step) ? shape.compensate : compensateOf(shape)
    const succeeded = this.#stored !== undefined && this.own.succeeded
    // With 'started', only started steps are planned: no need to check again.
    return owesUndo({ status: claim.undoOf ?? 'completed', started: true, succeeded }, compensate)
  }

  /** The items that the undo of their map is about, in their order. */
  get undoneItems(): readonly StepPayloads[] {
    const { claim, definition } = this.#subject
    const { compensate } = definition.record.shape.steps[claim.step]!
    return this.#undone.filter(({ undoneStatus, started, succeeded }) =>
      owesUndo({ status: undoneStatus!, started: started!, succeeded }, compensate),
    )
  }

  /** Whether this is the undo of a map whose items are undone at once. */
  get #undoesItems(): boolean {
    const { claim, step } = this.#subject
    return claim.direction === 'undo' && step.map?.part === 'map' && step.compensation !== null
  }

  async #readUndoneItems(map: number): Promise<void> {
    const { claim, definition } = this.#subject
    await this.#readWithOwn(definition.graph.dependencies[map]!)
    // The output of the step that decided the items is their number.
    const steps = Array.from({ length: Number(this.own.output) }, (_, index) => itemNumber(map, index))
    const read = await this.#parts.payloads.load({ runId: claim.runId, steps, branches: true })
    if (read === undefined) throw runIsGone(claim)
    this.#undone = byNumber(steps, read)
  }

  /** Whether the step's row is needed to tell an undo from a relay: only for a step that may have taken effect without completing. */
  get #needsRowForUndo(): boolean {
    if (this.owesUndo) return true
    const { step, claim } = this.#subject
    return step.compensation !== null && claim.undoOf !== 'completed'
  }

  /** The item, if this is one and its row was read: an undo that calls no handler reads nothing. */
  get item(): NewItem | undefined {
    const { item } = this.#subject.claim
    return item ?? (this.#stored === undefined ? undefined : this.own.item)
  }

  /** The error of the last failed attempt. The step's row holds the forward error only, so undefined in an undo. */
  get lastError(): SerialisedError | undefined {
    if (this.#subject.claim.direction === 'undo') return undefined
    return fromJsonText(this.own.error) as SerialisedError | undefined
  }

  /** The details of the newest heartbeat of earlier attempts in this round and direction. A first attempt reads nothing for it. */
  get lastHeartbeat(): JsonText {
    const [found] = this.#stored?.heartbeats?.filter(({ step }) => step === this.#subject.claim.step) ?? []
    return found?.value ?? null
  }

  /** The items of a map, by index, or their outputs as JSON text; or the last round of a loop. Only after prepare(), and only for the step that joins them. */
  get items(): readonly EndedItem[] | string {
    return this.#items
  }

  async #readItems(map: number): Promise<void> {
    const read = await readItems(map, this.#subject, this.#parts.payloads)
    if (read === undefined) throw runIsGone(this.#subject.claim)
    this.#items = read.items
    this.#forward = read.forward
  }

  /**
   * Reads the output of a loop's last round, or how the loop failed. A loop that was skipped has none. Of one that has failed to begin again, rounds
   * may be left of an earlier time.
   */
  async #readLastRound(opener: number): Promise<void> {
    const { claim, step: join } = this.#subject
    const branches = join.branch !== null || join.onFailure === 'continue'
    const request = { runId: claim.runId, steps: [opener], branches, lastRoundsOf: [opener] }
    const read = await this.#parts.payloads.load(request)
    if (read === undefined) throw runIsGone(claim)
    const rounds = read.steps.filter(({ step }) => isItem(step) && mapOf(step) === opener)
    const begun = read.steps.find(({ step }) => step === opener)!
    this.#items = begun.failed ? [begun] : rounds.sort((one, other) => one.step - other.step).slice(-1)
    this.#forward = { input: read.input, outputs: [begun.output], branches: branchesOf(read) }
  }

  /** The outputs that all items of a map get are read once, and cached. A small item comes with its claim. */
  #prepareItem(dependencies: readonly number[]): Promise<void> | undefined {
    const { claim, step } = this.#subject
    // The fence of a round begins at that of the round before: each was claimed once, if nothing else has happened.
    const claimsBefore = step.map?.part === 'round' ? itemIndex(claim.step) : 0
    if (movesBefore(claim) > claimsBefore) return this.#readWithOwn(dependencies)
    this.#forward = this.#parts.payloads.known(claim.runId, dependencies)
    if (claim.item === undefined) return this.#readItem(dependencies)
    return this.#forward === undefined ? this.#readForward(dependencies) : undefined
  }

  /** Reads an item's own row, because it is not in the claim. */
  async #readItem(dependencies: readonly number[]): Promise<void> {
    const { claim } = this.#subject
    const [stored] = await Promise.all([
      this.#parts.payloads.load({ runId: claim.runId, steps: [claim.step] }),
      this.#forward === undefined ? this.#readForward(dependencies) : undefined,
    ])
    if (stored === undefined) throw runIsGone(claim)
    this.#stored = stored
    this.#storedAt = this.#parts.runtime.clock.now()
  }

  async #readForward(dependencies: readonly number[]): Promise<void> {
    const { claim, step } = this.#subject
    this.#forward = await this.#parts.payloads.read(claim.runId, dependencies, {
      branches: step.branch?.skippedWith,
      settled: step.settled,
    })
    if (this.#forward === undefined) throw runIsGone(claim)
  }

  /**
   * Whether the cache holds all payloads for the undo of a completed step: it does if one worker ran the whole run. But the run may have gone
   * forward again since and stopped for another cause. So the first undo that this worker gets of a run always reads. Only undos handed back by a
   * settlement, of steps that ran once, use the cache.
   */
  #knowsForUndo(dependencies: readonly number[]): boolean {
    const { claim, origin } = this.#subject
    const { runId, step, undoOf } = claim
    const { payloads } = this.#parts
    // What the cache keeps of a step past whose failure the run continues is not its output.
    const isPlain = this.#subject.step.onFailure === 'stop'
    const current = origin === 'handed back' && undoOf === 'completed' && movesBefore(claim) === 1 && isPlain
    const cause = current ? payloads.knownCause(runId) : undefined
    const known = cause === undefined ? undefined : payloads.known(runId, [...dependencies, step])
    if (cause === undefined || known === undefined) return false
    const output = known.outputs.at(-1) ?? null
    const now = this.#parts.runtime.clock.now()
    this.#stored = { runId, input: known.input, cause, now, steps: [{ ...UNREAD, step, output }] }
    this.#forward = { input: known.input, outputs: known.outputs.slice(0, -1) }
    return true
  }

  async #readWithOwn(dependencies: readonly number[]): Promise<void> {
    const { claim, step: definition } = this.#subject
    const { runId, step } = claim
    const isForward = claim.direction === 'forward'
    const branches = (definition.branch !== null && isForward) || definition.settled !== null
    const heartbeats = claim.attempt > 1 ? [{ step, key: heartbeatKey(claim) }] : undefined
    const steps = [...dependencies, step]
    const stored = await this.#parts.payloads.load({ runId, steps, branches, heartbeats })
    if (stored === undefined) throw runIsGone(claim)
    const byStep = outputsOf(stored, definition.settled)
    this.#parts.payloads.rememberCause(runId, stored.cause)
    this.#stored = stored
    this.#storedAt = this.#parts.runtime.clock.now()
    this.#forward = {
      input: stored.input,
      outputs: dependencies.map((dependency) => byStep.get(dependency) ?? null),
      branches: branches ? branchesOf(stored) : undefined,
    }
  }
}

/** Columns that an undo does not need. */
const UNREAD = {
  error: null,
  availableAt: null,
  waitingSince: null,
  signalledAt: null,
  failingSince: null,
  succeeded: false,
}
