import type { Adapter, NewRun, StartedRun } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { specOfShape } from '../../machine/spec-of-shape.ts'
import { type Code, codeOf, Owner } from '../../owner/index.ts'
import type { NewRuns } from '../../store/index.ts'
import { AttemptAsker } from '../asker/asker.ts'
import type { ChildCode } from '../asker/child-starts.ts'
import { stillnessOf } from '../base/runtime.ts'
import type { WorkerParts as Parts } from '../worker/worker.ts'
import { changedRun, type OwnedAdapter, storeOf } from './owned-store.ts'

export type WorkerParts = Parts

/** A worker of an engine: the owner of its runs, whose handlers are those of its definitions. */
export class Worker {
  readonly #parts: WorkerParts
  readonly #adapter: OwnedAdapter
  readonly #codes: ReadonlyMap<number, Code>
  readonly #owner: Owner
  #isStopping = false
  #workerId = ''

  constructor(parts: WorkerParts) {
    const { adapter, definitions } = parts
    this.#parts = parts
    this.#adapter = storeOf(adapter)
    this.#codes = new Map(
      [...definitions].map(([id, { name, record }]) => [id, codeOf(id, name, specOfShape(record.shape))]),
    )
    this.#owner = this.#openOwner()
  }

  #openOwner(): Owner {
    const {
      adapter,
      events,
      runtime,
      payloadMaxBytes,
      storeStacks,
      around: hooks,
      traceparents,
    } = this.#parts
    const { definitions, log, name, host, concurrency, undoSlots, leaseMs, tickMs, onRunsChanged } =
      this.#parts
    const { store } = this.#adapter
    const { clock } = runtime
    const around =
      hooks === undefined || traceparents === undefined ? undefined : { hooks, traceparents, clock, log }
    const owner: Owner = new Owner({
      ...{ store, log, name, leaseMs, tickMs, undoSlots, codes: this.#codes, slots: concurrency },
      ...{ clock: runtime.clock, newId: runtime.newId, host: host ?? null },
      stillness: stillnessOf(adapter, runtime),
      asker: new AttemptAsker({
        ...{ store, events, definitions, log, around, payloadMaxBytes, storeStacks, runtime },
        get workerId() {
          return owner.workerId
        },
        runOf: (id) => owner.owned.get(id),
        now: () => owner.now(),
        mayBegin: () => owner.mayBegin(),
        childCode: (of) => this.#childCode(of),
      }),
      onTurned: (owned, finishedAt) => onRunsChanged([changedRun(owned, finishedAt, owner.now())]),
    })
    return owner
  }

  /** Of a name, the newest one that this process has, or else that the store has. */
  async #childCode(of: WorkflowDefinition | string): Promise<ChildCode> {
    const { adapter, definitions } = this.#parts
    if (typeof of !== 'string') return this.#codeOf(adapter, of)
    const named = [...definitions.values()].filter(({ name }) => name === of)
    const [newest] = named.sort((one, other) => other.version - one.version)
    if (newest !== undefined) return this.#codeOf(adapter, newest)
    const stored = await adapter.findDefinition({ name: of })
    if (stored !== null) return { ...codeOf(stored.id, of, specOfShape(stored.shape)), definedAs: undefined }
    throw new BelayError('unknown_workflow', `There is no workflow "${of}".`)
  }

  async #codeOf(adapter: Adapter, workflow: WorkflowDefinition): Promise<ChildCode> {
    const [saved] = await adapter.saveDefinitions([workflow.record])
    return { ...codeOf(saved!.id, workflow.name, specOfShape(saved!.shape)), definedAs: workflow }
  }

  get workerId(): string {
    return this.#workerId
  }

  get session(): undefined {
    return undefined
  }

  /** True if the worker could take a step now. */
  get hasRoom(): boolean {
    return !this.#isStopping && this.#owner.handlers.free > 0
  }

  /** True if the worker has the handlers of this definition. */
  runs(definitionId: number): boolean {
    return this.#codes.has(definitionId)
  }

  async start(): Promise<void> {
    await this.#owner.start()
    this.#workerId = this.#owner.workerId
    this.#parts.events.emit('worker.started', { workerId: this.#workerId })
  }

  registerAgain(): Promise<void> {
    return this.#owner.lease.register()
  }

  /** There may be runs to claim. */
  wake(): void {
    this.#owner.intake.expect('all')
  }

  /** Stores new runs: they are its own, as far as they can begin now. */
  async startRuns(runs: readonly NewRun[]): Promise<readonly StartedRun[]> {
    const canRun = runs.every(({ definitionId }) => this.runs(definitionId))
    if (this.#isStopping || !canRun) return this.#parts.adapter.startRuns(runs)
    return startRuns(runs, this.#codes, (request) => this.#owner.startRuns(request))
  }

  /** Whoever owns them knows. */
  runsStopped(): void {}

  /** Lets handlers end until the timeout, and gives its runs away. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#isStopping) return
    this.#isStopping = true
    await this.#owner.stop(timeoutMs)
    this.#parts.events.emit('worker.stopped', { workerId: this.#owner.workerId })
  }
}

/** Starts runs, those of one definition together. The answers are in their order. */
export async function startRuns(
  runs: readonly NewRun[],
  codes: ReadonlyMap<number, Pick<Code, 'definition' | 'workflow' | 'steps'>>,
  start: (request: NewRuns) => Promise<readonly StartedByStore[]>,
): Promise<readonly StartedRun[]> {
  const answers = new Map<NewRun, StartedRun>()
  for (const id of new Set(runs.map(({ definitionId }) => definitionId))) {
    const own = runs.filter(({ definitionId }) => definitionId === id)
    const { definition, workflow, steps } = codes.get(id)!
    const started = await start({ definition, workflow, steps, runs: own.map(newRun) })
    for (const [place, run] of own.entries()) {
      const { id: runId, created, definition: definitionId, input, inputHash } = started[place]!
      answers.set(run, { runId, created, definitionId, input, inputHash })
    }
  }
  return runs.map((run) => answers.get(run)!)
}

type StartedByStore = Awaited<ReturnType<Owner['startRuns']>>[number]

function newRun(run: NewRun): NewRuns['runs'][number] {
  const {
    runId,
    key,
    input,
    inputHash = null,
    tags,
    startAt,
    startDelayMs,
    deadlineMs,
    priority,
    parent,
  } = run
  return {
    ...{ id: runId, key, input, inputHash },
    ...(tags === undefined ? {} : { tags }),
    ...(startAt === undefined ? {} : { startAt }),
    ...(startDelayMs === undefined ? {} : { startDelayMs }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(priority === undefined ? {} : { priority }),
    ...(parent === undefined ? {} : { parent: { run: parent.runId, unit: parent.step } }),
  }
}
