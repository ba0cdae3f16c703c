import type { Adapter, RunRecord, RunStatus, StepRecord, StepStatus } from '@belay/workflow/adapter'
import type { Graph } from './graph.ts'

/** A case's run, and access to its present rows. */
export class CaseRun {
  readonly id: string
  readonly graph: Graph
  readonly #adapter: Adapter

  constructor(adapter: Adapter, id: string, graph: Graph) {
    this.#adapter = adapter
    this.id = id
    this.graph = graph
  }

  async read(): Promise<NonNullable<Awaited<ReturnType<Adapter['readRun']>>>> {
    const read = await this.#adapter.readRun(this.id)
    if (read === null) throw new Error(`The store lost run ${this.id}.`)
    return read
  }

  async record(): Promise<RunRecord> {
    return (await this.read()).run
  }

  async status(): Promise<RunStatus> {
    return (await this.record()).status
  }

  async step(name: string): Promise<StepRecord> {
    return (await this.read()).steps[this.graph.numberOf(name)]!
  }

  /** Every step's status, by name. */
  async statuses(): Promise<Readonly<Record<string, StepStatus>>> {
    return Object.fromEntries((await this.read()).steps.map(({ name, status }) => [name, status]))
  }
}
