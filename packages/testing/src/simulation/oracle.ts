import { type Engine, RunFailedError, type StepEvent } from '@belay/workflow'
import {
  type Adapter,
  type Delivery,
  isTerminal,
  type NewSignal,
  type Outcome,
  type Published,
  type PublishRequest,
  type RunEnd,
  type Settlement,
} from '@belay/workflow/adapter'
import { repeatedCheck } from '../invariants/check.ts'
import type { RunDump } from '../invariants/index.ts'
import { isLookedAt, isWithin } from './calls.ts'
import { Decisions } from './check-branch.ts'
import { checkCall } from './check-call.ts'
import { checkEndOf, type Known } from './check-end.ts'
import { checkStarts, Families } from './check-family.ts'
import type { FlowOracle } from './check-flow.ts'
import { FollowUps } from './check-follow-ups.ts'
import { Writes } from './check-written.ts'
import type { Definitions } from './definitions.ts'
import type { Effects } from './effects.ts'
import { EXPECTED_REFUSALS, hasEffect, isLetGo } from './expected.ts'
import type { InFlight } from './in-flight.ts'
import { checkEntered, checkSlots } from './limits.ts'
import type { SharedStore } from './shared-store.ts'
import type { Written } from './store.ts'
import type { StoreClock } from './store-clock.ts'
import type { Told } from './told.ts'
import type { Violations } from './violations.ts'

export interface OracleParts {
  readonly shared: SharedStore
  readonly inFlight: InFlight
  readonly definitions: Definitions
  readonly effects: Effects
  readonly told: Told
  readonly flow: FlowOracle
  readonly storeClock: StoreClock
  /** An engine that runs nothing and has no faults. */
  readonly inspector: Engine
  readonly violations: Violations
}

/**
 * Watches a simulated world and reports violations: whether each handler that its worker may call may be called now; whether each outcome is recorded
 * only once; and whether every run ended as its steps imply.
 */
export class Oracle {
  readonly #parts: OracleParts
  /** By run and the step's name. */
  readonly #known: Known = { recorded: new Map(), taken: new Map(), maybeTaken: new Map() }
  readonly #decisions = new Decisions()
  readonly #followUps = new FollowUps()
  readonly #writes = new Writes()
  /** Since when runs have been paused. */
  readonly #pausedAt = new Map<string, number>()
  readonly #pruned = new Set<string>()
  readonly #families = new Families()
  readonly #check = repeatedCheck()
  /** The run that the change under way is about to change. */
  #before: RunDump | undefined

  constructor(parts: OracleParts) {
    this.#parts = parts
  }

  /** Follows an engine's handler calls. */
  watch(engine: Engine): void {
    const { effects, inFlight } = this.#parts
    engine.on('step.started', (event) => {
      effects.announce(event)
      void inFlight.during('the oracle', () => this.#called(event))
    })
  }

  /** Reads the store right before a call that may remove what there is to check. */
  async asked(verb: string, args: readonly unknown[]): Promise<void> {
    await this.#parts.flow.asked(verb, args)
    if (isLookedAt(verb, args)) this.#before = await this.#find((args[0] as { runId: string }).runId)
    if (verb !== 'prune') return
    for (const runId of (args[0] as { readonly runIds: readonly string[] }).runIds) {
      const found = await this.#find(runId)
      if (found !== undefined && isTerminal(found.run.status)) await this.#checkEndOf(found)
    }
  }

  /** Checks what the store answered, whether or not the answer arrives. */
  async answered(verb: string, args: readonly unknown[], answer: unknown): Promise<void> {
    await this.#parts.flow.answered(verb, args, answer)
    switch (verb) {
      case 'deliverSignals':
        return this.#signalled(args as Parameters<Adapter['deliverSignals']>, answer as readonly Delivery[])
      case 'settle':
        return this.#settled(args[0] as Parameters<Adapter['settle']>[0], answer as Settlement)
      case 'publish':
        return this.#published(args[0] as PublishRequest, answer as readonly Published[])
      case 'cancelRuns':
      case 'changeRun':
        return this.#acted(verb, args, answer)
      case 'findRunEnds':
        return this.#followUps.found(answer as readonly RunEnd[])
      case 'prune':
        for (const runId of answer as readonly string[]) {
          this.#pruned.add(runId)
          this.#decisions.forgetRun(runId)
        }
    }
  }

  /** A transaction committed with this outcome, so its handler's write must be committed too. */
  async transacted(workerId: string, outcome: Outcome, written: readonly Written[]): Promise<void> {
    await this.#recordedOutcome(outcome, workerId)
    for (const one of written) {
      this.#writes.committed(one)
      this.#parts.effects.committed(one)
    }
  }

  /** Called when the sender of a signal or decision got an error. */
  refused(what: string, error: unknown): void {
    const code = (error as { readonly code?: string }).code ?? ''
    if (!EXPECTED_REFUSALS.has(code)) this.#broken(`${what} was refused: ${String(error)}`)
  }

  /** Checks the invariants that hold at any moment. */
  async checkNow(): Promise<void> {
    const dump = await this.#parts.shared.dump()
    checkSlots(dump, (violation) => this.#broken(violation))
    await this.#parts.flow.checkNow()
    for (const { invariant, message, runId, step } of this.#check(dump)) {
      if (this.#parts.storeClock.breaks(invariant)) continue
      this.#broken(`${invariant}: run ${runId} step ${step}: ${message}`)
    }
  }

  /** Checks what must hold once everything is at rest. */
  async checkEnd(started: ReadonlyMap<string, string>): Promise<void> {
    await this.checkNow()
    const { runs } = await this.#parts.shared.dump()
    for (const [runId, why] of started) {
      const isThere = this.#pruned.has(runId) || runs.some(({ run }) => run.runId === runId)
      if (!isThere) this.#broken(`run ${runId} vanished: ${why}`)
    }
    for (const run of runs) await this.#checkEndOf(run)
    checkStarts(runs, this.#parts.storeClock.backMs, (violation) => this.#broken(violation))
    this.#followUps.check(runs, this.#parts.definitions, (violation) => this.#broken(violation))
    this.#writes.check(await this.#parts.shared.written(), (violation) => this.#broken(violation))
    await this.#parts.flow.checkEnd()
  }

  #broken(violation: string): void {
    this.#parts.violations.add(violation)
  }

  async #find(runId: string): Promise<RunDump | undefined> {
    const { runs } = await this.#parts.shared.dump()
    return runs.find(({ run }) => run.runId === runId)
  }

  async #settled({ workerId, outcomes }: Parameters<Adapter['settle']>[0], { results }: Settlement) {
    for (const [index, outcome] of outcomes.entries()) {
      if (results[index] === 'settled') await this.#recordedOutcome(outcome, workerId)
    }
  }

  async #recordedOutcome(outcome: Outcome, workerId: string): Promise<void> {
    const found = await this.#find(outcome.runId)
    const step = found?.steps.find((row) => row.step === outcome.step)
    const foreign = step?.workerId !== null && step?.workerId !== workerId
    if (step?.fence !== outcome.fence || foreign) {
      const where = `step ${outcome.step} of run ${outcome.runId}`
      this.#broken(`${where} took a settlement of fence ${outcome.fence} while ${step?.fence} holds it`)
    }
    if (step !== undefined && isLetGo(outcome)) {
      this.#parts.effects.letGo(outcome.runId, step.name, outcome.fence)
    }
    const again = step && this.#decisions.recorded(`${outcome.runId}/${step.name}`, outcome)
    if (again !== undefined) this.#broken(again)
    const type = hasEffect(outcome) ? 'completed' : outcome.type
    if (type !== 'completed' && type !== 'compensated') return
    if (found !== undefined && outcome.type !== 'received') this.#parts.told.completed(found, outcome.step)
    const key = `${outcome.runId}/${step?.name}/${type}`
    const { recorded } = this.#known
    const before = recorded.get(key)
    // A start that is repeated after its run was pruned makes another run of that id.
    if (before !== undefined && before !== outcome.fence && !this.#pruned.has(outcome.runId)) {
      this.#broken(`${key} was recorded twice: for fences ${before} and ${outcome.fence}`)
    }
    recorded.set(key, outcome.fence)
    if (before === undefined) await this.#families.recorded(this.#parts, outcome, found)
  }

  /**
   * Checks a run that an operator may have changed. A step sent forward again may be recorded again. A manual undo counts as recorded. A decision
   * that is asked for anew may be given again.
   */
  async #changed(runId: string): Promise<void> {
    const found = await this.#find(runId)
    this.#parts.effects.changed(this.#before, found)
    this.#families.changed(this.#before, found)
    this.#parts.flow.changed(this.#before, found)
    if (found?.run.status !== 'paused') this.#pausedAt.delete(runId)
    else if (!this.#pausedAt.has(runId)) this.#pausedAt.set(runId, this.#parts.storeClock.latest)
    const { recorded, taken } = this.#known
    for (const { name, status, signalledAt, succeeded, branch } of found?.steps ?? []) {
      if (branch === null) this.#decisions.forget(`${runId}/${name}`)
      const [completed, compensated] = ['completed', 'compensated'].map((type) => `${runId}/${name}/${type}`)
      if (status === 'pending' || status === 'ready' || (status === 'skipped' && !succeeded)) {
        recorded.delete(completed!)
        recorded.delete(compensated!)
        // The signal may be why the step failed: the step asks anew.
        if (signalledAt === null) {
          taken.delete(`${runId}/${name}`)
        }
      }
      if (status === 'compensated' && !recorded.has(compensated!)) recorded.set(compensated!, -1)
      // A step that was undone and then skipped, or sent forward and cancelled between two looks, has no effect.
      if ((status === 'skipped' || status === 'cancelled') && recorded.has(compensated!)) {
        recorded.delete(completed!)
        recorded.delete(compensated!)
      }
    }
  }

  async #signalled(
    [signals, within]: Parameters<Adapter['deliverSignals']>,
    deliveries: readonly Delivery[],
  ) {
    for (const [index, { result }] of deliveries.entries()) {
      const signal = signals[index]!
      const found = await this.#find(signal.runId)
      const key = `${signal.runId}/${found?.steps[signal.step]?.name}`
      // The run may have moved to another version meanwhile. Then the engine looks again.
      const isThere = found?.run.definitionId === signal.definitionId
      if (result === 'unknown' && isThere) this.#broken(`a signal for ${key} found no such step`)
      if (within?.tx !== undefined) this.#signalledWithin(key, signal, result)
      else this.#signalledAlone(key, signal, result)
    }
  }

  async #acted(verb: string, args: readonly unknown[], answer: unknown): Promise<void> {
    // It is not known whether a transaction will commit, nor since when its run will then be paused.
    if (isWithin(args)) this.#pausedAt.clear()
    else if (verb === 'changeRun') await this.#changed((args[0] as { readonly runId: string }).runId)
    // A cancelled run is not paused any more.
    else for (const { runId } of answer as readonly { readonly runId: string }[]) this.#pausedAt.delete(runId)
  }

  #signalledAlone(key: string, { payload }: NewSignal, result: Delivery['result']): void {
    const { taken, maybeTaken } = this.#known
    if (result !== 'delivered' && result !== 'kept') return
    if (taken.has(key)) this.#broken(`${key} took two signals`)
    taken.set(key, payload)
    maybeTaken.delete(key)
  }

  async #published(request: PublishRequest, results: readonly Published[]): Promise<void> {
    this.#parts.told.published(request, results, (await this.#parts.shared.dump()).runs)
  }

  /** It is not known whether its transaction will commit. */
  #signalledWithin(key: string, { payload }: NewSignal, result: Delivery['result']): void {
    if (result !== 'delivered' && result !== 'kept') return
    const { maybeTaken } = this.#known
    maybeTaken.set(key, [...(maybeTaken.get(key) ?? []), payload])
  }

  async #called(event: StepEvent): Promise<void> {
    const { shared, storeClock, definitions } = this.#parts
    const dump = await shared.dump()
    const { workers } = dump
    const found = await this.#find(event.runId)
    if (found === undefined) {
      if (!this.#pruned.has(event.runId)) this.#broken(`a handler ran for an unknown run: ${event.runId}`)
      return
    }
    const definition = definitions.of(found.run)
    const pausedAt = this.#pausedAt.get(event.runId)
    checkEntered(dump, { event, found, definition }, (violation) => this.#broken(violation))
    checkCall({ event, found, definition, workers, pausedAt, now: storeClock.now() }, (violation) =>
      this.#broken(violation),
    )
  }

  async #checkEndOf(found: RunDump): Promise<void> {
    const { definitions, effects, inspector } = this.#parts
    const versions = definitions.versionsOf(found.run.workflow)
    const { runs } = await this.#parts.shared.dump()
    const backMs = this.#parts.storeClock.backMs
    const end = { found, definition: definitions.of(found.run), versions, known: this.#known, runs, backMs }
    checkEndOf(end, (violation) => this.#broken(violation))
    const snapshot = await inspector.runs.get(found.run.runId)
    if (snapshot === undefined) return
    const isStopped = snapshot.status !== 'completed'
    effects.checkEnd(found, isStopped ? new RunFailedError(snapshot).undo : [])
  }
}
