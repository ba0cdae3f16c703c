import { createEngine, type Engine, type WorkflowDefinition } from '@belay/workflow'
import type { Adapter, RunEnd } from '@belay/workflow/adapter'
import { isWithin, nameOfCall, shown, verbsOf, wordsFor } from './calls.ts'
import { FlowOracle } from './check-flow.ts'
import { CollectedCalls } from './collected.ts'
import { Damage } from './damage.ts'
import { Definitions } from './definitions.ts'
import { Effects } from './effects.ts'
import { type FaultRates, faultyAdapter } from './faulty-adapter.ts'
import { featuresOf } from './features.ts'
import { type Flow, flowOf } from './flow.ts'
import { type HandlerParts, PAYLOAD_MAX_BYTES, workflowsOf } from './handlers.ts'
import { Hints } from './hints.ts'
import { InFlight } from './in-flight.ts'
import type { Operation } from './operator.ts'
import { Oracle } from './oracle.ts'
import type { Plan } from './plan.ts'
import { Random } from './random.ts'
import { Process, Scheduler } from './scheduler.ts'
import { SharedStore } from './shared-store.ts'
import { memoryStore, type OpenStore, type Written } from './store.ts'
import { StoreClock } from './store-clock.ts'
import { Told } from './told.ts'
import { Violations } from './violations.ts'
import { worldPlans } from './world-plans.ts'

export interface SimulationOptions {
  readonly seed: number
  /** Where runs are stored. Default: in memory. */
  readonly store?: OpenStore
  /** Changes the store that the engines see, to prove that the oracle notices. */
  readonly sabotage?: (store: Adapter) => Adapter
  /** Receives one line per event of the world. */
  readonly trace?: (line: string) => void
}

/** How far the clock of a store may be set back in all. */
const CLOCK_AHEAD_MS = 1_000_000

const CALM: FaultRates = { failsBefore: 0, failsAfter: 0, slow: 0, late: 0, contended: 0 }

/** What all parts of a world share: its time, store, oracle and chance. */
export class Stage {
  readonly random: Random
  /** For what concerns limits: the rest of a world is the same without them. */
  readonly limitsRandom: Random
  /** What the world shows of flow control, and chance for it. */
  readonly flow: Flow
  readonly flowRandom: Random
  readonly scheduler: Scheduler
  readonly inFlight = new InFlight()
  /** The store's own process: never frozen, never killed. */
  readonly server: Process
  readonly shared: SharedStore
  readonly hints: Hints
  readonly plans: readonly Plan[]
  #damage: Damage | undefined
  readonly violations = new Violations((violation) => this.damage.concerns(violation))
  readonly collected = new CollectedCalls()
  readonly effects: Effects
  readonly told: Told
  readonly oracle: Oracle
  readonly flowOracle: FlowOracle
  readonly storeClock: StoreClock
  readonly leaseMs: number
  /** An engine that runs nothing and has no faults. */
  readonly inspector: Engine
  /** How often each verb was called, and each operator's action was done. */
  readonly calls: Record<string, number> = {}
  isCalm = false
  turns = 0
  /** Called when a process is about to ask its store for something. */
  onBegin: (process: Process, verb: string, args: readonly unknown[]) => void = () => {}
  readonly #options: SimulationOptions
  readonly #rates: FaultRates
  readonly #inspected: Adapter
  /** What steps wrote in their transactions, until those commit. */
  readonly #writes = new WeakMap<object, Written[]>()

  static async open(options: SimulationOptions): Promise<Stage> {
    const random = new Random(options.seed)
    const inFlight = new InFlight()
    const scheduler = new Scheduler(random.fork(), inFlight)
    const server = new Process('store', scheduler)
    const storeClock = new StoreClock(server.clock, flowOf(options.seed) === 'none' ? 0 : CLOCK_AHEAD_MS)
    const store = await (options.store ?? memoryStore)(storeClock)
    const shared = new SharedStore(store, storeClock, inFlight)
    const stage = new Stage(options, { random, scheduler, server, storeClock, shared, inFlight })
    // A transaction that saves a definition delays all other starts, in real time.
    if (store.takesTime) await stage.#saveDefinitions()
    return stage
  }

  private constructor(
    options: SimulationOptions,
    parts: Pick<Stage, 'random' | 'scheduler' | 'server' | 'storeClock' | 'shared' | 'inFlight'>,
  ) {
    this.#options = options
    this.random = parts.random
    this.scheduler = parts.scheduler
    this.inFlight = parts.inFlight
    this.server = parts.server
    this.shared = parts.shared
    this.storeClock = parts.storeClock
    this.hints = new Hints(this.random.fork())
    this.limitsRandom = new Random(options.seed ^ 0x11417)
    this.flow = flowOf(options.seed)
    this.flowRandom = new Random(options.seed ^ 0xf10)
    this.plans = worldPlans(options.seed, this)
    this.leaseMs = this.random.pick([1_000, 3_000, 10_000])
    this.#rates = this.random.pick<FaultRates>([
      { failsBefore: 0, failsAfter: 0, slow: 0.02, late: 0, contended: 0 },
      { failsBefore: 0.01, failsAfter: 0.03, slow: 0.05, late: 0.01, contended: 0.05 },
      { failsBefore: 0.05, failsAfter: 0.1, slow: 0.1, late: 0.05, contended: 0.02 },
    ])
    const broken = (violation: string) => this.violations.add(violation)
    this.effects = new Effects({
      dump: () => this.shared.dump(),
      plans: new Map(this.plans.map((plan) => [plan.name, plan])),
      broken,
    })
    this.told = new Told(broken)
    this.#inspected = this.#direct()
    this.inspector = createEngine({ adapter: this.#inspected, logger: false, clock: this.server.clock })
    this.flowOracle = new FlowOracle({
      flow: this.flow,
      shared: this.shared,
      storeClock: this.storeClock,
      now: () => this.scheduler.now,
      adapter: this.#inspected,
      violations: this.violations,
    })
    this.oracle = new Oracle({
      shared: this.shared,
      inFlight: this.inFlight,
      definitions: new Definitions(this.plans.flatMap((plan) => this.workflowsIn(this.server, plan))),
      effects: this.effects,
      told: this.told,
      flow: this.flowOracle,
      storeClock: this.storeClock,
      inspector: this.inspector,
      violations: this.violations,
    })
  }

  get damage(): Damage {
    this.#damage ??= new Damage(this.#options.seed, this.plans)
    return this.#damage
  }

  /** In half of the worlds a worker has no slot that only undos take. */
  get undosWait(): boolean {
    return this.#options.seed % 2 === 0
  }

  async #saveDefinitions(): Promise<void> {
    const workflows = this.plans.flatMap((plan) => this.workflowsIn(this.server, plan))
    const adapter = this.shared.connect()
    await this.shared.call('saveDefinitions', () =>
      adapter.saveDefinitions(workflows.map(({ record }) => record)),
    )
  }

  /** A process's connection to the store, with faults until the world is calm. */
  connect(process: Process, random: Random): Adapter {
    const { shared, server, hints, oracle } = this
    const store = shared.connect()
    return faultyAdapter(this.#options.sabotage?.(store) ?? store, {
      process,
      server,
      shared,
      hints,
      random,
      rates: () => (this.isCalm ? CALM : this.#rates),
      onBegin: (verb, args) => this.onBegin(process, verb, args),
      onAsk: (verb, args) => oracle.asked(verb, args),
      onAnswer: async (verb, args, answer) => {
        this.count(nameOfCall(verb, args))
        this.trace(() => `${process.name} ${verb} ${shown(args)} -> ${shown(answer)}`)
        if (verb === 'collectCalls' && !isWithin(args)) this.#collected(args, answer)
        if (verb === 'settle') this.#countOutcomes(args[0] as Parameters<Adapter['settle']>[0])
        if (verb !== 'transact') return oracle.answered(verb, args, answer)
        const [workerId, outcome, tx] = args as Parameters<Oracle['transacted']> &
          readonly [unknown, unknown, object]
        return oracle.transacted(workerId, outcome, this.#writes.get(tx) ?? [])
      },
    })
  }

  #collected(args: readonly unknown[], answer: unknown): void {
    const [calls] = args as Parameters<Adapter['collectCalls']>
    const answers = answer as Awaited<ReturnType<Adapter['collectCalls']>>
    this.collected.answered(calls, answers, { now: this.storeClock.now(), violations: this.violations })
  }

  /** Both versions of a plan's workflow, with handlers that run in this process. */
  workflowsIn(
    process: Process,
    plan: Plan,
    parts: Partial<HandlerParts> = {},
  ): readonly WorkflowDefinition[] {
    return workflowsOf(plan, {
      process,
      random: this.random,
      calm: () => this.isCalm,
      effects: this.effects,
      told: this.told,
      write: (tx, written) => {
        this.#writes.set(tx, [...(this.#writes.get(tx) ?? []), written])
        return this.shared.write(tx, written)
      },
      within: async () => {},
      ...parts,
    })
  }

  /** Ends of runs of which not everything has been done that follows from them. */
  async unfollowedEnds(): Promise<readonly RunEnd[]> {
    const { definitions } = await this.shared.dump()
    const definitionIds = definitions.map(({ id }) => id)
    const ends = await this.#inspected.findRunEnds({ definitionIds, limit: 100 })
    return ends.filter(({ runId }) => !this.damage.concerns(runId))
  }

  /** No schedule will start anything any more. */
  async areSchedulesPaused(): Promise<boolean> {
    if (this.flow !== 'schedules') return true
    const { schedules } = await this.#inspected.readSchedules({ limit: 100 })
    return schedules.every(({ pausedAt }) => pausedAt !== null)
  }

  get collects(): boolean {
    return this.plans.some(({ start }) => start !== undefined)
  }

  get payloadMaxBytes(): number {
    return PAYLOAD_MAX_BYTES
  }

  count(call: string): void {
    this.calls[call] = (this.calls[call] ?? 0) + 1
  }

  /** What an operator did, and to a run with which kinds of steps. */
  countOperation({ name, workflow, isChild = false }: Omit<Operation, 'act'>): void {
    this.count(`operator: ${name}`)
    if (isChild) this.count(`operator: ${name} on a child`)
    const plan = this.plans.find((other) => other.name === workflow)
    for (const feature of plan === undefined ? [] : featuresOf(plan.versions[0]!))
      this.count(`operator: ${name} with ${feature}`)
  }

  #countOutcomes({ outcomes }: Parameters<Adapter['settle']>[0]): void {
    for (const outcome of outcomes) this.count(`outcome: ${wordsFor(outcome)}`)
  }

  trace(line: () => string): void {
    this.#options.trace?.(`${this.turns} @${this.scheduler.now} ${line()}`)
  }

  /** The store without faults and without turns, for those who read or act from outside of the world. */
  #direct(): Adapter {
    const adapter = this.shared.connect()
    const direct = Object.fromEntries(verbsOf(adapter).map((verb) => [verb, this.#directVerb(adapter, verb)]))
    return {
      ...direct,
      name: 'inspected',
      onWake: () => () => {},
      wake: () => {},
      close: async () => {},
    } as unknown as Adapter
  }

  #directVerb(adapter: Adapter, verb: string) {
    const call = adapter[verb as keyof Adapter] as (...args: unknown[]) => Promise<unknown>
    return (...args: unknown[]) =>
      this.shared.ask({
        verb,
        args,
        run: () => call.apply(adapter, args),
        onAsk: (...ask) => this.oracle.asked(...ask),
        onAnswer: (...answer) => this.oracle.answered(...answer),
      })
  }
}
