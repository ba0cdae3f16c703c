import { createEngine, type Engine, type WorkflowDefinition } from '@belay/workflow'
import type { StepTransaction } from '@belay/workflow/adapter'
import { Process } from './scheduler.ts'
import type { Stage } from './stage.ts'

/** A process and its engine. */
export interface Living {
  readonly process: Process
  readonly engine: Engine
  /** Another engine of the process, which knows workflows only by name. */
  readonly stranger: Engine
  readonly workflows: readonly WorkflowDefinition[]
}

/** The processes of a world. */
export class Fleet {
  readonly living: Living[] = []
  crashes = 0
  freezes = 0
  readonly #stage: Stage
  /** What a transactional handler does besides its effect, with its process's engine. */
  readonly #within: (living: Living, tx: StepTransaction) => Promise<void>
  readonly #processes: Process[] = []

  constructor(stage: Stage, within: (living: Living, tx: StepTransaction) => Promise<void>) {
    this.#stage = stage
    this.#within = within
  }

  start(): void {
    const { random: chance, scheduler, plans, leaseMs, oracle, payloadMaxBytes } = this.#stage
    const random = chance.fork()
    const process = new Process(`p${this.#processes.length}`, scheduler)
    this.#processes.push(process)
    const within = (tx: StepTransaction) => this.#within(living, tx)
    const workflows = plans.flatMap((plan) => this.#stage.workflowsIn(process, plan, { random, within }))
    const same = {
      logger: false as const,
      adapter: this.#stage.connect(process, random),
      payloadMaxBytes,
      clock: process.clock,
      random: random.next,
      newId: () => random.uuid(),
    }
    const engine = createEngine({
      ...same,
      workflows,
      concurrency: random.integer(1, 6),
      ...(this.#stage.undosWait ? { undoSlots: 0 } : {}),
      lease: leaseMs,
      name: process.name,
      ...(random.chance(0.3) ? { attempts: 'keep' as const } : {}),
    })
    const living: Living = { process, engine, stranger: createEngine(same), workflows }
    oracle.watch(engine)
    this.living.push(living)
    const start = (): Promise<void> => engine.start().catch(() => process.turn(100).then(start))
    void start()
  }

  /** Ends the world: open transactions are rolled back. */
  async end(): Promise<void> {
    const { scheduler } = this.#stage
    for (const process of this.#processes) scheduler.kill(process)
    await scheduler.settle()
  }

  /** One living process that is not frozen, if there is any. */
  awake(): Living | undefined {
    const { random, scheduler } = this.#stage
    const awake = this.living.filter(({ process }) => process.frozenUntil <= scheduler.now)
    return awake.length === 0 ? undefined : random.pick(awake)
  }

  /** One living process, if there is any. */
  any(): Living | undefined {
    return this.living.length === 0 ? undefined : this.#stage.random.pick(this.living)
  }

  crash(): void {
    const { random, scheduler } = this.#stage
    const [gone] = this.living.splice(random.integer(0, this.living.length - 1), 1)
    this.crashes += 1
    this.#stage.trace(() => `crash ${gone!.process.name}`)
    scheduler.kill(gone!.process)
  }

  freeze(): void {
    const { random, scheduler, leaseMs } = this.#stage
    const { process } = random.pick(this.living)
    const forMs = random.integer(100, leaseMs * 3)
    this.freezes += 1
    this.#stage.trace(() => `freeze ${process.name} for ${forMs} ms`)
    scheduler.freeze(process, forMs)
  }

  /** A graceful stop: the process lives until it has left. */
  leave(): void {
    const { random } = this.#stage
    const [leaving] = this.living.splice(random.integer(0, this.living.length - 1), 1)
    this.#stage.trace(() => `stop ${leaving!.process.name}`)
    void leaving!.engine.stop({ timeout: random.integer(0, 5_000) }).catch(() => {})
  }
}
