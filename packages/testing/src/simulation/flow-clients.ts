import type { Clients } from './clients.ts'
import type { Fleet } from './fleet.ts'
import { FLOW } from './flow.ts'
import { pauseAll, putMissing, scheduleOperation } from './schedules.ts'
import type { Stage } from './stage.ts'

const FLOW_RUNS_MAX = 8
/** How long everything must have been calm before operators pause schedules: then none may be behind. */
const CALM_MS = 30_000

/** Those who use what a world has of flow control. */
export class FlowClients {
  readonly #stage: Stage
  readonly #fleet: Fleet
  readonly #clients: Clients
  /** Schedules that are confirmed as put. */
  readonly #schedules = new Set<string>()
  #starts = 0

  constructor(stage: Stage, fleet: Fleet, clients: Clients) {
    this.#stage = stage
    this.#fleet = fleet
    this.#clients = clients
  }

  /** Between two turns, by chance of its own. */
  async meddle(): Promise<void> {
    const { flow, flowRandom: random, flowOracle } = this.#stage
    if (flow === 'none') return
    if (random.chance(0.05)) {
      if (flow === 'schedules') this.#operateSchedules()
      else this.#start()
    }
    if (flow !== 'runs' && random.chance(0.004)) await flowOracle.setBack(random.integer(1, 8_000))
  }

  /** Once nothing goes wrong any more, and for long enough that schedules have caught up. */
  pauseSchedules(calmForMs: number): void {
    if (this.#stage.flow !== 'schedules') return
    this.#putMissing()
    if (calmForMs >= CALM_MS) this.#clients.act(pauseAll())
  }

  /** A run with a priority. */
  #start(): void {
    const living = this.#fleet.any()
    const { flowRandom: random } = this.#stage
    if (living === undefined || this.#starts >= FLOW_RUNS_MAX) return
    this.#starts += 1
    const workflow = living.workflows.find(({ name }) => name === FLOW)!
    const options = {
      ...(random.chance(0.5) ? { priority: random.integer(0, 3) } : {}),
      ...(random.chance(0.2) ? { delay: random.integer(0, 5_000) } : {}),
    }
    void living.engine
      .run(workflow, { by: 'simulation' }, options)
      .then((run) => this.#clients.started.set(run.id, 'started under flow control'))
      .catch(() => {})
  }

  #operateSchedules(): void {
    if (this.#putMissing() === 0) this.#clients.act(scheduleOperation(this.#stage.flowRandom))
  }

  #putMissing(): number {
    const missing = putMissing(this.#schedules)
    for (const [name, operation] of missing) this.#clients.act(operation, () => this.#schedules.add(name))
    return missing.length
  }
}
