import { createEngine, type Engine, type StepDefinition, type WorkflowDefinition } from '@belay/workflow'
import {
  type Adapter,
  BelayError,
  type Clock,
  type Delivery,
  isTerminal,
  type NewSignal,
  type Settlement,
} from '@belay/workflow/adapter'
import { type MemoryAdapter, memory } from '../memory/index.ts'
import { type FaultRates, faultyAdapter } from './faulty-adapter.ts'
import { operationOn } from './operator.ts'
import { Oracle } from './oracle.ts'
import { Random } from './random.ts'
import { Process, Scheduler } from './scheduler.ts'
import { type Plan, randomPlan, workflowOf } from './workload.ts'

/** Virtual time after the chaos in which everything must come to rest. */
const REST_MS = 3_600_000
/** Turns after the chaos in which it must. The longest of 3,000 worlds took 3,700 turns in all. */
const REST_TURNS_MAX = 20_000
/** Turns between two signals to everything that waits, in the calm. */
const SIGNAL_EVERY = 50
/** Turns between two checks of all invariants; every turn would make a large world slow. */
const CHECK_EVERY = 7

/** Turns between two looks after paused runs, once the world is calm. */
const RESUME_EVERY = 20

export interface SimulationOptions {
  readonly seed: number
  /** Changes the store that the engines see, to prove that the oracle notices. */
  readonly sabotage?: (store: Adapter) => Adapter
  /** Receives one line per event of the world. */
  readonly trace?: (line: string) => void
}

export interface SimulationReport {
  readonly seed: number
  readonly turns: number
  readonly virtualMs: number
  readonly crashes: number
  readonly freezes: number
  /** How many runs ended in which status. */
  readonly runs: Readonly<Record<string, number>>
  /** What broke; empty when everything held. */
  readonly violations: readonly string[]
}

/**
 * Runs random workflows on several engines that share one store, while chance delays, reorders, breaks connections, freezes and kills
 * processes at any await; then lets the world calm down, and checks that every guarantee held. The same seed gives the same world.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const world = new World(options)
  await world.run()
  return world.report()
}

class World {
  readonly #options: SimulationOptions
  readonly #random: Random
  readonly #scheduler: Scheduler
  readonly #server: Process
  readonly #store: MemoryAdapter<Clock>
  readonly #plans: readonly Plan[]
  readonly #oracle: Oracle
  readonly #rates: FaultRates
  readonly #living: { process: Process; engine: Engine; workflows: readonly WorkflowDefinition[] }[] = []
  readonly #started = new Map<string, string>()
  /** The workflow of each run. */
  readonly #workflowOf = new Map<string, WorkflowDefinition>()
  readonly #leaseMs: number
  #calm = false
  #turns = 0
  #crashes = 0
  #freezes = 0
  #processes = 0

  constructor(options: SimulationOptions) {
    this.#options = options
    this.#random = new Random(options.seed)
    this.#scheduler = new Scheduler(this.#random.fork())
    // The store's own process: never frozen, never killed.
    this.#server = new Process('store', this.#scheduler)
    this.#store = memory({ clock: this.#server.clock })
    this.#plans = Array.from({ length: this.#random.integer(1, 2) }, (_, n) =>
      randomPlan(this.#random.fork(), `w${n}`),
    )
    this.#leaseMs = this.#random.pick([1_000, 3_000, 10_000])
    this.#rates = this.#random.pick<FaultRates>([
      { failsBefore: 0, failsAfter: 0, slow: 0.02, late: 0, contended: 0 },
      { failsBefore: 0.01, failsAfter: 0.03, slow: 0.05, late: 0.01, contended: 0.05 },
      { failsBefore: 0.05, failsAfter: 0.1, slow: 0.1, late: 0.05, contended: 0.02 },
    ])
    const process = new Process('oracle', this.#scheduler)
    const workflows = this.#plans.map((plan) =>
      workflowOf(plan, { process, random: this.#random, calm: () => true, onWrite: () => {} }),
    )
    this.#oracle = new Oracle(
      this.#store,
      new Map(workflows.map((workflow) => [workflow.name, workflow])),
      () => this.#scheduler.now,
    )
  }

  async run(): Promise<void> {
    const chaosTurns = this.#random.integer(100, 900)
    for (let count = this.#random.integer(1, 3); count > 0; count -= 1) this.#startProcess()
    while (this.#turns < chaosTurns && (await this.#turn())) this.#meddle()
    this.#calm = true
    this.#trace('--- calm')
    if (this.#living.length === 0) this.#startProcess()
    const restBy = this.#scheduler.now + REST_MS
    const lastTurn = this.#turns + REST_TURNS_MAX
    while (!this.#atRest() && this.#scheduler.now < restBy && this.#turns < lastTurn) {
      // A pause of before may still be under way: an operator looks again and again.
      if (this.#turns % RESUME_EVERY === 0) await this.#resumeAll()
      if (!(await this.#turn())) break
      // What nobody signalled in the chaos would wait for ever.
      if (this.#turns % SIGNAL_EVERY === 0) this.#signalEverything()
    }
    await this.#scheduler.settle()
    this.#oracle.checkEnd(this.#started)
  }

  report(): SimulationReport {
    const { runs } = this.#store.dump()
    const counts: Record<string, number> = {}
    for (const { run } of runs) counts[run.status] = (counts[run.status] ?? 0) + 1
    return {
      seed: this.#options.seed,
      turns: this.#turns,
      virtualMs: this.#scheduler.now,
      crashes: this.#crashes,
      freezes: this.#freezes,
      runs: counts,
      violations: this.#oracle.violations,
    }
  }

  async #turn(): Promise<boolean> {
    this.#turns += 1
    if (this.#turns % CHECK_EVERY === 0) this.#oracle.checkNow()
    return this.#scheduler.step()
  }

  #atRest(): boolean {
    return this.#store.dump().runs.every(({ run, steps }) => {
      if (isTerminal(run.status)) return true
      if (run.status !== 'compensation_failed') return false
      return !steps.some(
        ({ status, openDependencies }) => status === 'compensating' && openDependencies === 0,
      )
    })
  }

  /** Between two turns, chance may start a run, cancel one, or harm a process. */
  #meddle(): void {
    const random = this.#random
    if (this.#started.size < 6 && random.chance(0.05)) this.#startRun()
    if (random.chance(0.004)) this.#cancelRun()
    if (random.chance(0.03)) this.#operate()
    if (random.chance(0.04)) this.#signalRun()
    if (this.#living.length === 0) {
      if (random.chance(0.2)) this.#startProcess()
      return
    }
    const fate = random.next()
    if (fate < 0.006) this.#crash()
    else if (fate < 0.012) this.#freeze()
    else if (fate < 0.015) this.#leave()
    else if (fate < 0.025 && this.#living.length < 3) this.#startProcess()
  }

  #startProcess(): void {
    const random = this.#random.fork()
    const process = new Process(`p${this.#processes++}`, this.#scheduler)
    const workflows = this.#plans.map((plan) =>
      workflowOf(plan, {
        process,
        random,
        calm: () => this.#calm,
        onWrite: (written) => this.#oracle.written(written),
      }),
    )
    const engine = createEngine({
      adapter: this.#connect(process, random),
      workflows,
      concurrency: random.integer(1, 6),
      lease: this.#leaseMs,
      clock: process.clock,
      random: random.next,
      newId: () => random.uuid(),
      name: process.name,
    })
    this.#oracle.watch(engine)
    this.#living.push({ process, engine, workflows })
    const start = (): Promise<void> => engine.start().catch(() => process.turn(100).then(start))
    void start()
  }

  #connect(process: Process, random: Random): Adapter {
    const calm = { failsBefore: 0, failsAfter: 0, slow: 0, late: 0, contended: 0 }
    return faultyAdapter(this.#options.sabotage?.(this.#store) ?? this.#store, {
      process,
      server: this.#server,
      random,
      rates: () => (this.#calm ? calm : this.#rates),
      onAnswer: (verb, args, answer) => {
        this.#trace(`${process.name} ${verb} ${JSON.stringify(args)} -> ${JSON.stringify(answer)}`)
        if (verb === 'deliverSignals') {
          this.#oracle.signalled(args[0] as readonly NewSignal[], answer as readonly Delivery[])
        }
        if (verb === 'settle') {
          this.#oracle.settled(args[0] as Parameters<Adapter['settle']>[0], answer as Settlement)
        }
        if (verb === 'transact') this.#oracle.transacted(...(args as Parameters<Oracle['transacted']>))
        if (verb === 'changeRun') this.#oracle.changed((args[0] as { readonly runId: string }).runId)
      },
    })
  }

  #startRun(): void {
    const living = this.#living[0]
    if (living === undefined) return
    const { engine, workflows } = this.#random.pick(this.#living)
    const workflow = this.#random.pick(workflows)
    const key = this.#random.chance(0.5) ? `k${this.#random.integer(0, 2)}` : undefined
    void engine
      .run(workflow, { by: 'simulation' }, { ...this.#randomTimes(), ...(key === undefined ? {} : { key }) })
      .then((run) => {
        this.#started.set(run.id, `started with key ${key}`)
        this.#workflowOf.set(run.id, workflow)
      })
      // The connection broke: the run may or may not exist.
      .catch(() => {})
  }

  #cancelRun(): void {
    if (this.#started.size === 0 || this.#living.length === 0) return
    const runId = this.#random.pick([...this.#started.keys()])
    const { engine } = this.#random.pick(this.#living)
    this.#trace(`cancel ${runId}`)
    void engine.runs
      .handle(runId)
      .cancel({ reason: 'simulated' })
      .catch(() => {})
  }

  /** What an operator might do to a run where it stands. */
  #operate(): void {
    if (this.#living.length === 0) return
    const random = this.#random
    const { engine } = random.pick(this.#living)
    const operation = operationOn(this.#store.dump(), random)
    if (operation === undefined) return
    this.#trace(`operate ${operation.name}`)
    // Refused, or the connection broke: either may be.
    void operation.act(engine).catch(() => {})
  }

  async #resumeAll(): Promise<void> {
    const paused = this.#store.dump().runs.filter(({ run }) => run.status === 'paused')
    if (paused.length === 0) return
    const operator = createEngine({ adapter: this.#store })
    for (const { run } of paused) {
      // Its last step may have ended since.
      await operator.runs.handle(run.runId).resume().catch(unlessRefused)
    }
  }

  #randomTimes(): { readonly delay?: number; readonly deadline?: number } {
    const random = this.#random
    return {
      ...(random.chance(0.15) ? { delay: random.integer(0, 10_000) } : {}),
      ...(random.chance(0.2) ? { deadline: random.pick([1_000, 10_000, 100_000]) } : {}),
    }
  }

  /** Any process, any run, any step that takes one: early, late, and now and then under a key that was used before. */
  #signalRun(): void {
    if (this.#workflowOf.size === 0 || this.#living.length === 0) return
    const [runId, workflow] = this.#random.pick([...this.#workflowOf])
    const steps = workflow.steps.filter(({ wait }) => wait?.kind === 'signal' || wait?.kind === 'approval')
    if (steps.length > 0) this.#signal(runId, this.#random.pick(steps))
  }

  #signalEverything(): void {
    if (this.#living.length === 0) return
    for (const { run, steps } of this.#store.dump().runs) {
      const { steps: defined } = this.#living[0]!.workflows.find(({ name }) => name === run.workflow)!
      for (const { step, status, availableAt } of steps) {
        if (status !== 'waiting' || availableAt !== null) continue
        this.#signal(run.runId, defined[step]!)
      }
    }
  }

  #signal(runId: string, { name, wait }: StepDefinition): void {
    const random = this.#random
    const { engine } = random.pick(this.#living)
    const key = `k${random.integer(0, 3)}`
    const handle = engine.runs.handle(runId)
    const payload = { n: random.integer(0, 1_000) }
    this.#trace(`signal ${runId} ${name} ${key}`)
    const sending = () => {
      if (wait?.kind === 'signal') return handle.signal(name, payload, { key })
      const decision = { by: 'simulation', key }
      return random.chance(0.85) ? handle.approve(name, decision) : handle.reject(name, decision)
    }
    void sending().catch((error) => this.#oracle.refused(`a signal for ${runId}/${name}`, error))
  }

  #crash(): void {
    const index = this.#random.integer(0, this.#living.length - 1)
    const [gone] = this.#living.splice(index, 1)
    this.#crashes += 1
    this.#trace(`crash ${gone!.process.name}`)
    this.#scheduler.kill(gone!.process)
  }

  #freeze(): void {
    const { process } = this.#random.pick(this.#living)
    const forMs = this.#random.integer(100, this.#leaseMs * 3)
    this.#freezes += 1
    this.#trace(`freeze ${process.name} for ${forMs} ms`)
    this.#scheduler.freeze(process, forMs)
  }

  /** A graceful stop: the process goes on living until it has left. */
  #leave(): void {
    const index = this.#random.integer(0, this.#living.length - 1)
    const [leaving] = this.#living.splice(index, 1)
    this.#trace(`stop ${leaving!.process.name}`)
    void leaving!.engine.stop({ timeout: this.#random.integer(0, 5_000) }).catch(() => {})
  }

  #trace(line: string): void {
    this.#options.trace?.(`${this.#turns} @${this.#scheduler.now} ${line}`)
  }
}

function unlessRefused(error: unknown): void {
  if (!BelayError.is(error) || error.code !== 'action_refused') throw error
}
