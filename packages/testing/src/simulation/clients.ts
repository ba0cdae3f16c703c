import type { RunHandle, StepDefinition, WorkflowDefinition } from '@belay/workflow'
import {
  BelayError,
  type CallerTransaction,
  STEP_KINDS,
  type StepTransaction,
  templateOf,
} from '@belay/workflow/adapter'
import { withFollowUps } from './definitions.ts'
import { openCircles } from './families.ts'
import { untilDeath } from './faulty-adapter.ts'
import type { Fleet, Living } from './fleet.ts'
import { limitOperation, resetLimits } from './limits.ts'
import { type Operation, operationOn, upkeep } from './operator.ts'
import { retryUndo, unpark } from './repairs.ts'
import type { Process } from './scheduler.ts'
import type { Stage } from './stage.ts'

const RUNS_MAX = 8
const CALLS_MAX = 30

/** Everybody who uses the engines of a world: to start runs, signal them, or change them. */
export class Clients {
  readonly #stage: Stage
  readonly #fleet: Fleet
  /** Runs that were confirmed as started, and why they must exist. */
  readonly started = new Map<string, string>()
  readonly #underWay = new Set<string>()
  /** Runs that are being started, or may have been. */
  #starts = 0

  constructor(stage: Stage, fleet: Fleet) {
    this.#stage = stage
    this.#fleet = fleet
  }

  startRun(): void {
    const living = this.#fleet.any()
    if (living === undefined || this.#starts >= RUNS_MAX) return
    const { options, start } = this.#newRun(living)
    void start()
      .then((run) => this.started.set(run.id, `started with key ${options.key}`))
      // The connection broke: the run may or may not exist.
      .catch(() => {})
  }

  /** A call of a workflow that collects its starts, sometimes in an application's transaction. */
  call(): void {
    const living = this.#fleet.any()
    const { random, collected, shared } = this.#stage
    if (living === undefined || collected.count >= CALLS_MAX) return
    const { engine, process, workflows } = living
    const workflow = random.pick(workflows.filter(({ start }) => start != null))
    const n = collected.next()
    const input = { n, key: random.pick(['x', 'y']) }
    const told = (run: RunHandle) => collected.told(n, run)
    if (random.chance(0.7)) return void engine.run(workflow, input).then(told, () => {})
    const rollsBack = random.chance(0.3)
    const work = async (tx: CallerTransaction) => {
      const run = await untilDeath(process, engine.run(workflow, input, { tx }))
      await untilDeath(process, process.turn(random.integer(0, 500)))
      if (rollsBack) throw new Error('simulated: rolls back')
      return run
    }
    const turn = () => process.turn()
    void turn()
      .then(() => shared.free(turn))
      .then(() => shared.transaction(work))
      .then(told, () => {})
  }

  /** An application's transaction: starts or signals a run in it, then commits or rolls back. */
  transact(): void {
    const living = this.#fleet.any()
    if (living === undefined) return
    const { shared, random } = this.#stage
    const { process } = living
    const rollsBack = random.chance(0.3)
    const work = async (tx: CallerTransaction) => {
      await untilDeath(process, this.#within(living, tx))
      await untilDeath(process, process.turn(random.integer(0, 500)))
      if (rollsBack) throw new Error('simulated: rolls back')
    }
    this.#stage.trace(() => `transaction of ${process.name}${rollsBack ? ', to be rolled back' : ''}`)
    const turn = () => process.turn()
    void turn()
      .then(() => shared.free(turn))
      .then(() => shared.transaction(work))
      .catch(() => {})
  }

  /** What a transactional handler does besides its effect: usually nothing. */
  async within(living: Living, tx: StepTransaction): Promise<void> {
    if (!this.#stage.isCalm && this.#stage.random.chance(0.1)) await this.#within(living, tx)
  }

  /** A cancellation, usually with an undo. */
  cancel(): void {
    const { random } = this.#stage
    if (this.started.size === 0) return
    const runId = random.pick([...this.started.keys()])
    this.act({
      name: 'cancel',
      runId,
      act: ({ engine }) => engine.runs.handle(runId).cancel({ reason: 'simulated' }),
    })
  }

  /** An operator's action that fits some run's status. */
  async operate(): Promise<void> {
    const operation = operationOn(await this.#stage.shared.dump(), this.#stage.random)
    if (operation !== undefined) this.act(operation)
  }

  async resumeAll(): Promise<void> {
    for (const { run, steps } of (await this.#stage.shared.dump()).runs) {
      const { runId, status } = run
      if (status === 'paused') {
        const act: Operation['act'] = ({ engine }) => engine.runs.handle(runId).resume()
        this.#oneByOne({ name: 'resume', runId, act }, runId)
      }
      if (status === 'compensation_failed' && this.#keepsItsSlot(run.workflow))
        this.act({ name: 'retryCompensation', runId, act: (parts) => retryUndo(parts, steps, runId) })
      if (status === 'parked')
        this.act({ name: 'unpark', runId, act: (parts) => unpark(parts, steps, runId) })
    }
  }

  /** Other runs would wait for ever for the slot of a run whose compensation failed. */
  #keepsItsSlot(workflow: string): boolean {
    return this.#stage.plans.some(({ name, limits }) => name === workflow && limits !== undefined)
  }

  upkeep(): void {
    this.act(upkeep(this.#stage.random))
  }

  /** Like every call, it waits in the world for a transaction that has the only session. */
  resetLimits(): void {
    this.#oneByOne({ name: 'reset limits', act: ({ engine }) => resetLimits(engine) })
  }

  /** Not again before it has ended: calls that come faster than they are answered would keep the time from going on. */
  #oneByOne({ act, ...operation }: Operation, key = operation.name): void {
    if (this.#underWay.has(key)) return
    const ended = () => void this.#underWay.delete(key)
    const acted: Operation['act'] = (living) => {
      this.#underWay.add(key)
      return act(living).finally(ended)
    }
    this.act({ ...operation, act: acted })
  }

  /** Families that wait for themselves, as the doctor finds them, get enough slots. */
  openCircles(): void {
    const act: Operation['act'] = async ({ engine }) => {
      if (await openCircles(engine)) this.#stage.count('a family that waits for itself is found')
    }
    this.#oneByOne({ name: 'look for circles', act })
  }

  setLimit(): void {
    this.act(limitOperation(this.#stage.limitsRandom))
  }

  /** Signals any step of any run that takes signals: early, late, and sometimes with a key that was used before. */
  async signalAny(): Promise<void> {
    const living = this.#fleet.any()
    const { runs } = await this.#stage.shared.dump()
    if (living === undefined || runs.length === 0) return
    const { run } = this.#stage.random.pick(runs)
    const workflow = definitionOf(living.workflows, run)
    const steps = workflow.steps.filter(takesSignals)
    if (steps.length > 0) void this.#signal(living, run.runId, this.#stage.random.pick(steps))
  }

  /** Signals every waiting step: what nobody signalled in the chaos would wait forever. */
  async signalEverything(): Promise<void> {
    for (const { run, steps } of (await this.#stage.shared.dump()).runs) {
      const living = this.#fleet.any()
      if (living === undefined) return
      const { steps: defined } = definitionOf(living.workflows, run)
      for (const { step, status, availableAt } of steps) {
        if (status !== 'waiting' || availableAt !== null) continue
        const own = defined[templateOf(step)]!
        if (takesSignals(own)) void this.#signal(living, run.runId, own)
      }
    }
  }

  /** An operator acts through some living process. `done` is called if the action was answered. */
  act({ act, ...operation }: Operation, done?: () => void): void {
    const living = this.#fleet.any()
    if (living === undefined) return
    this.#stage.trace(() => `operator: ${operation.name} ${operation.runId ?? ''}`)
    // The action may have been refused, or the connection broke. Both are allowed.
    const told = () => {
      this.#stage.countOperation(operation)
      done?.()
    }
    void act(living).then(told, () => {})
  }

  async #within(living: Living, tx: CallerTransaction): Promise<void> {
    const { random, shared } = this.#stage
    if (random.chance(0.5) && this.#starts < RUNS_MAX) {
      await this.#newRun(living).start(tx)
      return
    }
    if (random.chance(0.4)) return this.#actWithin(living, tx)
    const waiting = (await shared.dump()).runs.flatMap(({ run, steps }) =>
      steps.filter(({ status }) => status === 'waiting').map((row) => ({ run, row })),
    )
    if (waiting.length === 0) return
    const { run, row } = random.pick(waiting)
    const step = definitionOf(living.workflows, run).steps[templateOf(row.step)]!
    if (takesSignals(step)) {
      await this.#signal(living, run.runId, step, tx)
    }
  }

  /** An operator's actions in a transaction that does something else too. */
  async #actWithin({ engine }: Living, tx: CallerTransaction): Promise<void> {
    const { random, shared } = this.#stage
    const { runs } = await shared.dump()
    if (runs.length === 0) return
    const { run } = random.pick(runs)
    const action = run.status === 'paused' ? 'resume' : random.pick(['pause', 'cancel'] as const)
    await engine.runs.handle(run.runId)[action]({ tx })
    this.#stage.count(`operator: ${action} in a transaction`)
  }

  #newRun({ engine, stranger, workflows }: Living) {
    const { random } = this.#stage
    this.#starts += 1
    const key = random.chance(0.5) ? `k${random.integer(0, 2)}` : undefined
    const options = {
      ...(random.chance(0.15) ? { delay: random.integer(0, 10_000) } : {}),
      ...(random.chance(0.2) ? { deadline: random.pick([1_000, 10_000, 100_000]) } : {}),
      ...(key === undefined ? {} : { key }),
      // Without a draw.
      ...(this.#starts % 3 === 0 ? { priority: this.#starts } : {}),
    }
    const workflow = random.pick(workflows.filter(({ start }) => start == null))
    const { name, version } = workflow
    const input = { by: 'simulation' }
    const isByName = random.chance(0.2)
    const start = (tx?: CallerTransaction) => {
      const given = tx === undefined ? options : { ...options, tx }
      return isByName ? stranger.run(name, input, { ...given, version }) : engine.run(workflow, input, given)
    }
    return { options: { key }, start }
  }

  async #signal(
    { engine, process, workflows }: Living,
    runId: string,
    { name, wait }: StepDefinition,
    tx?: CallerTransaction,
  ): Promise<void> {
    const { random, oracle } = this.#stage
    const key = `k${random.integer(0, 3)}`
    const handle = engine.runs.handle(runId)
    const payload = { n: random.integer(0, 1_000) }
    const within = tx === undefined ? {} : { tx }
    this.#stage.trace(() => `${nameOf(process)} signal ${runId} ${name} ${key}`)
    const sending = () => {
      if (wait?.kind === 'signal') return handle.signal(name, payload, { key, ...within })
      const decision = { by: 'simulation', key, ...within }
      return random.chance(0.85) ? handle.approve(name, decision) : handle.reject(name, decision)
    }
    try {
      await sending()
    } catch (error) {
      // The caller owns the transaction, and the error ends it.
      if (tx !== undefined) throw error
      // The run may have moved to a version without that step.
      const isDropped = workflows.some(({ graph }) => graph.numberOf(name) === undefined)
      if (isDropped && BelayError.is(error) && error.code === 'invalid_option') return
      oracle.refused(`a signal for ${runId}/${name}`, error)
    }
  }
}

function takesSignals({ wait }: StepDefinition): boolean {
  return wait !== null && STEP_KINDS[wait.kind].endsBy === 'signal'
}

function nameOf({ name }: Process): string {
  return name
}

function definitionOf(
  workflows: readonly WorkflowDefinition[],
  run: { readonly workflow: string; readonly version: number },
): WorkflowDefinition {
  return withFollowUps(workflows).find(
    ({ name, version }) => name === run.workflow && version === run.version,
  )!
}
