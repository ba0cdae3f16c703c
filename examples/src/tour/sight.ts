import type { Engine, RunHandle, RunSnapshot, WorkerSnapshot, WorkflowDefinition } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import type { Database } from '../database.ts'
import { type CardRequest, readCardRequests } from '../order/accounts.ts'
import { type RunView, type StepView, viewOf } from '../terminal/run-view.ts'
import type { Member } from './crew.ts'

/** What the database and the process table tell at one moment. */
export interface Sight {
  readonly run: RunSnapshot
  readonly view: RunView
  readonly workers: readonly WorkerSight[]
  readonly requests: readonly CardRequest[]
}

export interface WorkerSight extends Member {
  /** The steps that it holds. */
  readonly holds: readonly string[]
  /** How long its lease lasts, by the database's clock. Undefined once the lease was found expired and its steps were taken away. */
  readonly leaseMs: number | undefined
}

interface Places {
  readonly adapter: Adapter
  readonly database: Database
  /** Of the process that looks. It need not be a worker. */
  readonly engine: Engine
  readonly members: () => readonly Member[]
}

/** Looks at a run and its workers. Any process could: everything but the fact of the kill is read from the database. */
export class Lookout {
  readonly #places: Places
  readonly #nameById = new Map<string, string>()

  constructor(places: Places) {
    this.#places = places
  }

  async look(run: RunHandle<unknown>, workflow: WorkflowDefinition, orderId: string): Promise<Sight> {
    const { adapter, database, engine, members } = this.#places
    // The workers first: a worker that died between two of these reads then seems alive, and is seen dead the next time.
    const [registered, now] = [await engine.workers.list(), await adapter.now()]
    const crew = members().map((member) => ({
      member,
      entry: registered.find(({ name }) => name === `${member.name}, process ${member.pid}`),
    }))
    for (const { member, entry } of crew) if (entry !== undefined) this.#nameById.set(entry.id, member.name)
    const workers = await Promise.all(
      crew.map(async ({ member: { name, pid, isKilled }, entry }) => {
        const held = entry === undefined ? [] : await engine.workers.holds(entry.id)
        const holds = held.filter(({ runId }) => runId === run.id).map(({ step }) => step)
        return { name, pid, isKilled, holds, leaseMs: leaseOf(entry, now) }
      }),
    )
    const snapshot = await run.status()
    return {
      run: snapshot,
      view: this.#viewOf(workflow, snapshot, workers),
      workers,
      requests: await readCardRequests(database, orderId),
    }
  }

  #viewOf(workflow: WorkflowDefinition, snapshot: RunSnapshot, workers: readonly WorkerSight[]): RunView {
    const view = viewOf(workflow, snapshot)
    const steps = view.steps.map((step, index): StepView => {
      const { workerId, failures, status, undo } = snapshot.steps[index]!
      const holder = workers.find(({ holds }) => holds.includes(step.name))
      // The store keeps the newest error for ever; a reader is interested in it until the next attempt succeeds.
      const seen = step.state === 'done' ? { ...step, error: undefined } : step
      if (holder?.isKilled) return { ...seen, state: 'orphaned', worker: holder.name }
      const worker = holder?.name ?? (workerId === undefined ? undefined : this.#nameById.get(workerId))
      const named = worker === undefined ? seen : { ...seen, worker }
      if (status === 'ready' && failures > 0) return { ...named, state: 'retrying' }
      if (status === 'compensating' && holder !== undefined) return { ...named, state: 'undoing' }
      // Nobody undoes it yet, so the worker is the one that completed it.
      return status === 'compensating' && undo?.startedAt === undefined ? seen : named
    })
    return { ...view, steps }
  }
}

function leaseOf(entry: WorkerSnapshot | undefined, now: number): number | undefined {
  return entry?.leaseExpiresAt === undefined ? undefined : Math.max(0, entry.leaseExpiresAt.getTime() - now)
}
