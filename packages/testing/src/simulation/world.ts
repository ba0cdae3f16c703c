import { isTerminal } from '@belay/workflow/adapter'
import { isParked } from './check-family.ts'
import { Clients } from './clients.ts'
import { Abandonment, showsFamilies } from './families.ts'
import { Fleet } from './fleet.ts'
import { FlowClients } from './flow-clients.ts'
import { areLimitsAtRest, hasLimits } from './limits.ts'
import type { Process } from './scheduler.ts'
import { type SimulationOptions, Stage } from './stage.ts'

/** Virtual time after the chaos within which everything must come to rest. */
const REST_MS = 3_600_000
/** Turns after the chaos within which everything must come to rest. Of 10,000 worlds two took more than 20,000: children of children, each with waits. */
const REST_TURNS_MAX = 60_000
/** Turns between two rounds of signals to everything that waits, once the world is calm. */
const SIGNAL_EVERY = 50
/** Turns between two checks of all invariants. A check at every turn would make a large world slow. */
const CHECK_EVERY = 7
/** Turns between two looks for paused runs, once the world is calm. */
const RESUME_EVERY = 20
/** How many processes live at once. */
const PROCESSES_MAX = 3

export interface SimulationReport {
  readonly seed: number
  readonly turns: number
  readonly virtualMs: number
  readonly crashes: number
  readonly freezes: number
  /** How many runs ended in each status. */
  readonly runs: Readonly<Record<string, number>>
  /** How often each verb was answered, in each way of calling it, and how often operators took each action. */
  readonly calls: Readonly<Record<string, number>>
  /** Violations; empty if every guarantee held. */
  readonly violations: readonly string[]
}

/**
 * Runs random workflows on several engines that share one store. Chance delays, reorders, breaks connections, and freezes and kills processes at any
 * await, while operators intervene. Then the world calms down, and every guarantee is checked. The same seed gives the same world.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const stage = await Stage.open(options)
  const world = new World(stage, options.seed)
  try {
    await world.run()
    return await world.report(options.seed)
  } finally {
    await world.end()
    await stage.shared.close()
  }
}

class World {
  readonly #stage: Stage
  readonly #fleet: Fleet
  readonly #clients: Clients
  readonly #flowClients: FlowClients
  readonly #hasFamilies: boolean

  constructor(stage: Stage, seed: number) {
    this.#stage = stage
    this.#fleet = new Fleet(stage, (living, tx) => this.#clients.within(living, tx))
    this.#clients = new Clients(stage, this.#fleet)
    this.#flowClients = new FlowClients(stage, this.#fleet, this.#clients)
    this.#hasFamilies = showsFamilies(seed)
    const abandonment = new Abandonment(seed, (process, parentId) => this.#abandon(process, parentId))
    stage.onBegin = (...call) => abandonment.meets(...call)
  }

  async run(): Promise<void> {
    const stage = this.#stage
    const chaosTurns = stage.random.integer(100, 900)
    for (let count = stage.random.integer(1, PROCESSES_MAX); count > 0; count -= 1) this.#fleet.start()
    while (stage.turns < chaosTurns) {
      // With no process alive, nothing happens until chance starts one.
      await this.#turn()
      await this.#meddle()
    }
    stage.isCalm = true
    stage.trace(() => '--- calm')
    if (this.#fleet.living.length === 0) this.#fleet.start()
    await this.#rest()
    if (!stage.shared.isFree) {
      stage.violations.add('a transaction waits for something that waits for the only session of the store')
    } else {
      if (!areLimitsAtRest(await stage.shared.dump()))
        stage.violations.add('slots are taken although nothing runs')
      await stage.oracle.checkEnd(this.#clients.started)
    }
    stage.collected.check((await stage.shared.dump()).runs, stage.violations)
  }

  /** Rolls back open transactions. */
  end(): Promise<void> {
    return this.#fleet.end()
  }

  async report(seed: number): Promise<SimulationReport> {
    const { runs } = await this.#stage.shared.dump()
    const counts: Record<string, number> = {}
    for (const { run } of runs) counts[run.status] = (counts[run.status] ?? 0) + 1
    return {
      seed,
      turns: this.#stage.turns,
      virtualMs: this.#stage.scheduler.now,
      crashes: this.#fleet.crashes,
      freezes: this.#fleet.freezes,
      runs: counts,
      calls: this.#stage.calls,
      violations: this.#stage.violations.found,
    }
  }

  /** A worker is frozen until its steps are lost, and an operator stops the run for which it is about to act. */
  #abandon(process: Process, runId: string): void {
    const { isCalm, scheduler, leaseMs } = this.#stage
    if (isCalm) return
    scheduler.freeze(process, 3 * leaseMs)
    const cancelled = this.#fleet.awake()?.engine.runs.handle(runId).cancel({ compensate: false })
    void cancelled?.then(
      () => this.#stage.count('a run is abandoned while its child is being started'),
      () => {},
    )
  }

  /** In some worlds a run's rows are damaged, once. Not while a transaction is open in the only session. */
  async #damage(): Promise<void> {
    const { damage, shared } = this.#stage
    if (!damage.isDue() || !shared.isFree) return
    const picked = damage.pick(await shared.dump())
    if (picked === undefined) return
    this.#stage.trace(() => `damage ${picked.runId} ${picked.kind}`)
    this.#stage.count(`damage: ${picked.kind}`)
    await shared.damage(picked.runId, picked.kind, (dump) => damage.withoutDamaged(dump))
  }

  async #rest(): Promise<void> {
    const stage = this.#stage
    const restBy = stage.scheduler.now + REST_MS
    const lastTurn = stage.turns + REST_TURNS_MAX
    const calmAt = stage.scheduler.now
    while (!(await this.#isAtRest()) && stage.scheduler.now < restBy && stage.turns < lastTurn) {
      // A pause from the chaos may still be under way, so operators look repeatedly.
      if (stage.turns % RESUME_EVERY === 0) {
        await this.#clients.resumeAll()
        if (stage.plans.some(hasLimits)) this.#clients.resetLimits()
        this.#flowClients.pauseSchedules(stage.scheduler.now - calmAt)
      }
      if (!(await this.#turn())) break
      if (stage.turns % SIGNAL_EVERY === 0) await this.#clients.signalEverything()
      if (stage.turns % SIGNAL_EVERY === 0 && this.#hasFamilies) this.#clients.openCircles()
    }
  }

  async #turn(): Promise<boolean> {
    this.#stage.turns += 1
    if (this.#stage.turns % CHECK_EVERY === 0) await this.#stage.oracle.checkNow()
    return this.#stage.scheduler.step()
  }

  async #isAtRest(): Promise<boolean> {
    // A start that is under way may still create a run.
    await this.#stage.scheduler.settle()
    if (!this.#stage.shared.isFree) return false
    const dump = await this.#stage.shared.dump()
    const { runs } = dump
    if (!areLimitsAtRest(dump)) return false
    if ((await this.#stage.unfollowedEnds()).length > 0) return false
    if (!(await this.#stage.areSchedulesPaused())) return false
    return runs.every((found) => isTerminal(found.run.status) || isParked(found, runs))
  }

  /** Between two turns, chance may start a run, act on one, or harm a process. */
  async #meddle(): Promise<void> {
    const { random } = this.#stage
    const [clients, fleet] = [this.#clients, this.#fleet]
    if (random.chance(0.05)) clients.startRun()
    if (this.#stage.collects && random.chance(0.06)) clients.call()
    if (random.chance(0.01)) clients.transact()
    if (random.chance(0.003)) clients.cancel()
    if (random.chance(0.03)) await clients.operate()
    if (random.chance(0.02)) clients.upkeep()
    if (random.chance(0.04)) await clients.signalAny()
    const { plans, limitsRandom } = this.#stage
    if (plans.some(hasLimits) && limitsRandom.chance(0.01)) clients.setLimit()
    await this.#flowClients.meddle()
    await this.#damage()
    if (fleet.living.length === 0) {
      if (random.chance(0.2)) fleet.start()
      return
    }
    const fate = random.next()
    if (fate < 0.006) fleet.crash()
    else if (fate < 0.012) fleet.freeze()
    else if (fate < 0.015) fleet.leave()
    else if (fate < 0.025 && fleet.living.length < PROCESSES_MAX) fleet.start()
  }
}
