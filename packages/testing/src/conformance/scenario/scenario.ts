import { createEngine, type Engine, type EngineOptions, type RunHandle } from '@belay/workflow'
import type {
  Adapter,
  Delivery,
  DrainedRun,
  JsonText,
  NewSignal,
  ParentRun,
  UndoPlan,
} from '@belay/workflow/adapter'
import { assertInvariants } from '../../invariants/check.ts'
import { type Dump, readDump } from '../../invariants/dump.ts'
import type { Harness } from '../harness.ts'
import { chainEdges, DIAMOND, definitionRecord, fanEdges, Graph, looseEdges, PAIR } from './graph.ts'
import { Ids } from './ids.ts'
import { CANCELLED } from './outcomes.ts'
import { CaseRun } from './run.ts'
import { CaseWorker, UNLIMITED } from './worker.ts'

/** Ten times shorter than the engine's. Only its ratio to the time that a case advances matters. */
export const LEASE_MS = 3_000

interface StartOptions {
  readonly key?: string
  readonly input?: JsonText
  readonly startAt?: number
  readonly startDelayMs?: number
  readonly deadlineMs?: number
  readonly tags?: readonly string[]
  readonly parent?: ParentRun
  readonly priority?: number
  readonly stepPriorities?: readonly number[]
  readonly reportsEnd?: boolean
}

interface SignalOptions {
  readonly key?: string
  readonly payload?: JsonText
  readonly payloadHash?: string
  readonly actor?: string
}

/** What a case receives: a store, and short methods to prepare it. */
export class Scenario {
  readonly harness: Harness
  readonly ids = new Ids()
  readonly #graphs: Graph[] = []

  constructor(harness: Harness) {
    this.harness = harness
  }

  get adapter(): Adapter {
    return this.harness.adapter
  }

  advance(ms: number): Promise<void> {
    return this.harness.advance(ms)
  }

  async graph(...shape: Parameters<typeof definitionRecord>): Promise<Graph> {
    const [saved] = await this.adapter.saveDefinitions([definitionRecord(...shape)])
    const graph = new Graph(saved!)
    this.#graphs.push(graph)
    return graph
  }

  /** A started run of a → b, c → d. */
  async diamond(): Promise<CaseRun> {
    return this.start(await this.graph('diamond', DIAMOND))
  }

  /** A started run of a → b. */
  async pair(): Promise<CaseRun> {
    return this.start(await this.graph('pair', PAIR))
  }

  /** A started run of s0 → s1 → … */
  async chain(length: number): Promise<CaseRun> {
    return this.start(await this.graph('chain', chainEdges(length)))
  }

  /** A started run of root → s0 … sN → sink. */
  async fan(width: number): Promise<CaseRun> {
    return this.start(await this.graph('fan', fanEdges(width)))
  }

  /** A started run of s0 … sN, all of them roots. */
  async loose(width: number): Promise<CaseRun> {
    return this.start(await this.graph('loose', looseEdges(width)))
  }

  async start(graph: Graph, options: StartOptions = {}): Promise<CaseRun> {
    const runId = this.ids.runId()
    const { key = null, input = '"input"', ...others } = options
    const run = { runId, definitionId: graph.id, workflow: graph.name, key, input, ...others }
    await this.adapter.startRuns([run])
    return new CaseRun(this.adapter, runId, graph)
  }

  /** A worker that keeps the attempts that it ends. */
  async keeper(): Promise<CaseWorker> {
    const { id } = await this.worker()
    return new CaseWorker(this.adapter, id, this.#graphs, true)
  }

  async worker(adapter = this.adapter): Promise<CaseWorker> {
    const workerId = this.ids.workerId()
    await adapter.registerWorker({ workerId, name: 'worker', leaseMs: LEASE_MS })
    return new CaseWorker(adapter, workerId, this.#graphs)
  }

  /** Lets every lease expire that nobody renews. */
  expireLeases(): Promise<void> {
    return this.advance(LEASE_MS + 1)
  }

  /** Sweeps until nothing is left to do. */
  async sweep(adapter = this.adapter): Promise<{ lostWorkers: string[]; recovered: string[] }> {
    const lostWorkers: string[] = []
    const recovered: string[] = []
    for (let round = 0; round < 1_000; round += 1) {
      const swept = await adapter.sweep({ limit: 1_000 })
      lostWorkers.push(...swept.lostWorkers)
      recovered.push(...swept.recovered.map(({ runId, step }) => `${runId}/${step}`))
      if (!swept.more) return { lostWorkers, recovered }
    }
    throw new Error('A thousand sweeps in a row answered that there was more to do.')
  }

  /** Sends signals to steps of a run, each with its own key unless one is given. */
  async signal(run: CaseRun, name: string, options: SignalOptions = {}): Promise<Delivery> {
    const [delivery] = await this.adapter.deliverSignals([this.newSignal(run, name, options)])
    return delivery!
  }

  newSignal(run: CaseRun, name: string, options: SignalOptions = {}): NewSignal {
    const { key = this.ids.runId(), payload = '"signal"', actor = null, payloadHash } = options
    const { id: definitionId } = run.graph
    return { runId: run.id, definitionId, step: run.graph.numberOf(name), key, payload, actor, payloadHash }
  }

  async cancel(...runs: readonly CaseRun[]): Promise<readonly string[]> {
    const runIds = runs.map(({ id }) => id)
    return (await this.adapter.cancelRuns({ runIds, cause: CANCELLED })).map(({ runId }) => runId)
  }

  /** The operators' view of a run: the engine's handle on it, over the case's store. */
  operate(
    run: CaseRun,
    adapter: Adapter = this.adapter,
    options: Pick<EngineOptions, 'attempts'> = {},
  ): RunHandle {
    return createEngine({ adapter, logger: false, ...options }).runs.handle(run.id)
  }

  /** An engine that never works, to act through. It keeps nothing open. */
  operator(adapter: Adapter = this.adapter): Engine {
    return createEngine({ adapter, logger: false })
  }

  drain(
    options: { readonly limit?: number; readonly runs?: readonly CaseRun[] } = {},
  ): Promise<readonly DrainedRun[]> {
    return this.adapter.drain({
      definitionIds: this.#graphs.map(({ id }) => id),
      runIds: options.runs?.map(({ id }) => id),
      limit: options.limit ?? UNLIMITED,
    })
  }

  /** Begins the undo of a drained run: everything that completed, or what `steps` names. */
  async undo(run: CaseRun, options: { readonly steps?: readonly string[] } = {}): Promise<void> {
    const [drained] = await this.drain({ runs: [run] })
    if (drained === undefined) throw new Error(`Run ${run.id} is not drained: it is ${await run.status()}.`)
    await this.adapter.beginUndo([planUndo(drained, run.graph, options.steps)])
  }

  /** Everything the port shows, for cases about what must not change. */
  snapshot(): Promise<Dump> {
    return readDump(
      this.adapter,
      this.#graphs.map(({ saved }) => saved),
    )
  }

  /** Checks the invariants after every case. */
  async verify(): Promise<void> {
    assertInvariants(await this.snapshot())
  }
}

/** The simplest plan: undo these steps, or everything that completed, each after its dependents. */
export function planUndo(drained: DrainedRun, graph: Graph, names?: readonly string[]): UndoPlan {
  const completed = drained.steps.filter(({ status }) => status === 'completed').map(({ step }) => step)
  const undone = names?.map((name) => graph.numberOf(name)) ?? completed
  const undos = undone.map((step) => ({
    step,
    openDependents: graph.dependents(step).filter((dependent) => undone.includes(dependent)).length,
  }))
  return { runId: drained.runId, endsAs: drained.stop === 'failure' ? 'compensated' : 'cancelled', undos }
}
