import { type Engine as BelayEngine, BelayError, createEngine, PermanentError } from '@belay/workflow'
import {
  type Adapter,
  type Claim,
  edgesOf,
  isItem,
  itemIndex,
  mapOf,
  type Outcome,
} from '@belay/workflow/adapter'
import { refOf } from '../../../workflow/src/engine/decisions/decide.ts'
import { planUndo } from '../../../workflow/src/engine/decisions/plan-undo.ts'
import type { StepGraph } from '../../../workflow/src/graph/graph.ts'
import { memoryHarness } from '../../src/conformance/harness.ts'
import { Ids } from '../../src/conformance/scenario/ids.ts'
import type { Definition } from './definitions.ts'
import { nextOf, outcomeOf, shapeOf } from './next-of-claim.ts'
import {
  type AskPhase,
  type Engine,
  type Happening,
  jsonOf,
  type Reply,
  STAND_IN,
  type View,
  WAIT_MS,
} from './view.ts'
import { unitOf, viewOfToday } from './view-of-today.ts'

/** Longer than any history. */
const LEASE_MS = 1_000_000_000

/** An attempt that is with a handler. Each has a worker of its own, which may be lost alone. */
export interface Held {
  readonly claim: Claim
  readonly workerId: string
  readonly phase: AskPhase
}

/** Today's engine, at the port of its adapter: whatever a worker and a tick would do happens at once, but for the handlers. */
export class Today implements Engine {
  readonly #harness = memoryHarness()
  readonly #ids = new Ids()
  readonly #definition: Definition
  readonly #idle: string[] = []
  /** By the name of the unit. */
  readonly #held = new Map<string, Held>()
  /** How many attempts went into the decision, by step and round. */
  readonly #decidedAt = new Map<string, number>()
  readonly runId = this.#ids.runId()
  #definitionId = 0
  #engine!: BelayEngine

  constructor(definition: Definition) {
    this.#definition = definition
  }

  get #adapter(): Adapter {
    return this.#harness.adapter
  }

  get #shape() {
    return this.#definition.shape
  }

  static async begin(definition: Definition): Promise<Today> {
    const today = new Today(definition)
    await today.#begin()
    return today
  }

  async #begin(): Promise<void> {
    const record = { name: 'random', version: 1, checksum: 'random', shape: this.#shape }
    const [saved] = await this.#adapter.saveDefinitions([record])
    this.#definitionId = saved!.id
    const { runId } = this
    const { deadlineMs } = this.#definition
    const deadline = deadlineMs === null ? {} : { deadlineMs }
    await this.#adapter.startRuns([
      { runId, definitionId: saved!.id, workflow: 'random', key: null, input: 'null', ...deadline },
    ])
    this.#engine = createEngine({ adapter: this.#adapter, logger: false })
    await this.#rest()
  }

  now(): Promise<number> {
    return this.#adapter.now()
  }

  async apply(happening: Happening): Promise<Reply | undefined> {
    const reply = await this.#apply(happening)
    await this.#rest()
    return reply
  }

  async view(): Promise<View> {
    return viewOfToday(this.#shape, await this.#read(), this.#held, (claim) => this.#attemptOf(claim))
  }

  close(): Promise<void> {
    return this.#harness.close()
  }

  async #apply(happening: Happening): Promise<Reply | undefined> {
    switch (happening.does) {
      case 'pass':
        await this.#harness.advance(happening.ms)
        return void (await this.#adapter.expireRuns({ limit: 10 }))
      case 'takeover':
        return void (await this.#lose(...this.#held.keys()))
      case 'operate':
        return this.#operate(happening)
      case 'signal':
        return this.#signal(happening)
      case 'lose':
        return void (await this.#lose(happening.unit))
      case 'complete':
        return void (await this.#complete(happening))
      default: {
        const { claim } = this.#held.get(happening.unit)!
        return void (await this.#settle(happening.unit, this.#unhappyEnd(claim, happening)))
      }
    }
  }

  #unhappyEnd(
    claim: Claim,
    happening: Extract<Happening, { does: 'fail' | 'succeedUnstorably' | 'release' | 'tryAgain' }>,
  ): Outcome {
    switch (happening.does) {
      case 'fail':
        return outcomeOf(claim, this.#definition, { type: 'threw', error: new PermanentError('broken') })
      case 'succeedUnstorably':
        return outcomeOf(claim, this.#definition, {
          type: 'unstorable',
          error: new PermanentError('too large'),
        })
      case 'release':
        return { ...refOf(claim), type: 'released', begun: false }
      case 'tryAgain':
        return {
          ...refOf(claim),
          type: 'retry',
          error: jsonOf({ message: 'again' })!,
          delayMs: happening.delayMs,
        }
    }
  }

  async #complete({
    unit,
    yes,
    items,
    output,
    laterMs,
  }: Extract<Happening, { does: 'complete' }>): Promise<void> {
    const { claim, phase } = this.#held.get(unit)!
    if (phase === 'undo') return this.#settle(unit, { ...refOf(claim), type: 'compensated' })
    if (phase === 'decide') return this.#decide(unit, yes)
    const { kind } = shapeOf(claim, this.#shape)
    const ref = refOf(claim)
    if (phase === 'run' && !yes && this.#isRound(claim)) {
      const nextItem = { key: String(itemIndex(claim.step) + 2), value: '1' }
      return this.#settle(unit, { ...ref, type: 'repeated', output: '1', nextItem, delayMs: laterMs })
    }
    if (phase === 'run' && (kind !== 'poll' || yes))
      return this.#settle(unit, { ...ref, type: 'completed', output: jsonOf(output) })
    if (kind !== 'map') {
      this.#decidedAt.delete(`${claim.step}/${claim.round}`)
      return this.#settle(unit, { ...ref, type: 'waiting', wake: { afterMs: WAIT_MS } })
    }
    const decided = Array.from({ length: items }, (_, n) => ({ key: String(n), value: '1' }))
    const atOnce = this.#definition.code.get(unit)?.concurrency ?? null
    return this.#settle(unit, { ...ref, type: 'expanded', items: decided, atOnce })
  }

  #isRound({ step }: Claim): boolean {
    return isItem(step) && this.#shape.steps[mapOf(step)]!.kind === 'repeat'
  }

  async #decide(unit: string, yes: boolean): Promise<void> {
    const { claim, workerId } = this.#held.get(unit)!
    if (!yes)
      return this.#settle(
        unit,
        outcomeOf(claim, this.#definition, { type: 'skipped', reason: { because: 'when' } }),
      )
    const outcome = outcomeOf(claim, this.#definition, {
      type: 'decided',
      branch: JSON.stringify({ runs: true }),
    })
    await this.#record(workerId, outcome)
    this.#held.delete(unit)
    this.#decidedAt.set(`${claim.step}/${claim.round}`, claim.attempt - 1)
    const isStopped = (await this.#adapter.stopping({ runIds: [this.runId] })).length > 0
    if (!isStopped) return this.#take(claim, workerId)
    // Its handler is not called.
    await this.#record(workerId, { ...refOf(claim), type: 'released', begun: false })
    this.#idle.push(workerId)
  }

  /** The number of an attempt among those that did the work: the attempts that only decided come before it. */
  #attemptOf({ claim, phase }: Held): number {
    if (phase === 'undo' || phase === 'decide') return claim.attempt
    return claim.attempt - (this.#decidedAt.get(`${claim.step}/${claim.round}`) ?? 0)
  }

  async #lose(...units: readonly string[]): Promise<void> {
    for (const unit of units) {
      const { workerId } = this.#held.get(unit)!
      this.#held.delete(unit)
      // One that leaves while it holds steps is lost.
      await this.#adapter.deregisterWorker({ workerId })
    }
    while ((await this.#adapter.sweep({ limit: 1_000 })).more);
  }

  async #signal({ unit, rejects }: Extract<Happening, { does: 'signal' }>): Promise<Reply> {
    const step = this.#shape.steps.findIndex(({ name }) => name === unit)
    const signal = { runId: this.runId, definitionId: this.#definitionId, step, key: this.#ids.runId() }
    const payload = jsonOf({ approved: !rejects, by: 'somebody', at: 'now' })
    const [delivery] = await this.#adapter.deliverSignals([{ ...signal, payload, actor: null }])
    return delivery!.result === 'delivered' || delivery!.result === 'kept' ? 'done' : 'unchanged'
  }

  async #operate(happening: Extract<Happening, { does: 'operate' }>): Promise<Reply> {
    const by = { by: 'operator', reason: 'chance' }
    const handle = this.#engine.runs.handle(this.runId)
    try {
      switch (happening.action) {
        case 'pause':
        case 'resume':
          return (await handle[happening.action](by)) ? 'done' : 'unchanged'
        case 'cancel':
          return (await handle.cancel(by)) ? 'done' : 'unchanged'
        case 'abandon':
          return (await handle.cancel({ ...by, compensate: false })) ? 'done' : 'unchanged'
        case 'retry':
          await handle.retry(by)
          return 'done'
        case 'skipStep':
          await handle.skipStep(await this.#nameFor(happening.unit), { ...by, output: STAND_IN })
          return 'done'
        default:
          await handle[happening.action](await this.#nameFor(happening.unit), by)
          return 'done'
      }
    } catch (error) {
      if (!BelayError.is(error) || error.code !== 'action_refused') throw error
      return { refused: this.#unitsIn(error.message) }
    } finally {
      await this.#forgetStale()
    }
  }

  /** A map is two steps: until it has opened, and for its undo, it is the first of them. Rounds are counted from 1. */
  async #nameFor(unit: string): Promise<string> {
    const { steps } = await this.#read()
    const opener = steps.find(({ name }) => name === `${unit}[]`)
    if (opener !== undefined)
      return opener.status === 'completed' || opener.status === 'skipped' ? unit : opener.name
    return steps.find(({ step }) => unitOf(this.#shape, step) === unit)!.name
  }

  /** The names of steps as those of units. */
  #unitsIn(text: string): string {
    return text.replaceAll(/"([a-g])\[\]"/g, '"$1"')
  }

  /** A handler that an operator gave up holds its step no more. */
  async #forgetStale(): Promise<void> {
    const { steps } = await this.#read()
    for (const [unit, { claim, workerId }] of this.#held) {
      const row = steps.find(({ step }) => step === claim.step)
      if (
        row?.workerId === workerId &&
        row.fence === claim.fence &&
        row.status !== 'failed' &&
        row.status !== 'compensation_failed'
      )
        continue
      this.#held.delete(unit)
      this.#idle.push(workerId)
    }
  }

  async #read() {
    return (await this.#adapter.readRun(this.runId))!
  }

  /** Everything happens that needs no handler. */
  async #rest(): Promise<void> {
    for (;;) {
      const isMoved = (await this.#claim()) || (await this.#drain())
      if (!isMoved) return
    }
  }

  async #claim(): Promise<boolean> {
    let isMoved = false
    for (;;) {
      const workerId = this.#idle.pop() ?? (await this.#worker())
      const claimed = await this.#adapter.claim({ workerId, definitionIds: [this.#definitionId], limit: 1 })
      if (claimed === 'lost') throw new Error('An idle worker was lost.')
      const [claim] = claimed.claims
      if (claim === undefined) {
        this.#idle.push(workerId)
        return isMoved
      }
      isMoved = true
      await this.#take(claim, workerId)
    }
  }

  async #worker(): Promise<string> {
    const workerId = this.#ids.workerId()
    await this.#adapter.registerWorker({ workerId, name: 'worker', leaseMs: LEASE_MS })
    return workerId
  }

  async #drain(): Promise<boolean> {
    const drained = await this.#adapter.drain({ definitionIds: [this.#definitionId], limit: 10 })
    const graph = edgesOf(this.#shape) as unknown as StepGraph
    await this.#adapter.beginUndo(drained.map((run) => planUndo(graph, this.#shape, run)))
    return drained.length > 0
  }

  /** An attempt goes as far as it gets without a handler. */
  async #take(claim: Claim, workerId: string): Promise<void> {
    const next = nextOf(claim, this.#definition, (await this.#read()).steps, await this.now())
    if (typeof next === 'string') {
      this.#held.set(unitOf(this.#shape, claim.step), { claim, workerId, phase: next })
      return
    }
    await this.#record(workerId, next)
    this.#idle.push(workerId)
  }

  async #settle(unit: string, outcome: Outcome): Promise<void> {
    const { workerId } = this.#held.get(unit)!
    this.#held.delete(unit)
    await this.#record(workerId, outcome)
    this.#idle.push(workerId)
  }

  async #record(workerId: string, outcome: Outcome): Promise<void> {
    const { results } = await this.#adapter.settle({ workerId, outcomes: [outcome], handBackMax: 0 })
    if (results[0] !== 'settled')
      throw new Error(`${JSON.stringify(outcome)} was ${JSON.stringify(results[0])}.`)
  }
}
