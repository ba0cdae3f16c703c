import { DERIVED_FROM } from '../../adapter/derived-from.ts'
import { holdsLease } from '../../adapter/holds-lease.ts'
import type { Adapter, RunRecord, WorkerRecord } from '../../adapter/index.ts'
import type { Clock, Recurrence, Timer } from '../../clock.ts'
import type { Logger } from '../../logger.ts'
import { NEVER } from '../base/loop.ts'
import { capacity } from '../base/run-capacity.ts'
import { type Runtime, within } from '../base/runtime.ts'

/** How long a run is awaited before its worker is looked for. */
const PATIENCE_MS = 1_000
/** How long after a warning about a version, or a look at a run, there may be another. */
const QUIET_MS = 60_000
/** The most runs that are looked at once, and in the time between two looks at a run. */
const LOOKS_MAX = 5
const LOOKS_OF_ROUND_MAX = 100
/** The most children of a waiting run, and the most generations, in which a worker is found to be missing. */
const CHILDREN_MAX = 5
const GENERATIONS_MAX = 8
/** How long the error of a wait that has timed out waits for its last sentence. */
const ADVICE_MS = 500

/** A virtual clock never fires it: there, `time_stands_still` tells a caller that a run cannot go on. */
const ONLY_IN_REAL_TIME: Recurrence = { everyMs: PATIENCE_MS, idleUntil: () => NEVER }

/** A run that waits, and since when by the engine's clock. */
export interface AwaitedRun {
  readonly runId: string
  readonly since: number
}

/** Whether this process's worker runs: it could be the one that is missing. */
export type OwnWorker = 'off' | 'starting' | 'on'

export interface WorkerLookoutParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly log: Logger
  /** The workflows of this engine. */
  readonly workflows: readonly { readonly name: string; readonly version: number }[]
  readonly ownWorker: () => OwnWorker
}

/** What of a run tells which workers can run it. */
export type Served = Pick<RunRecord, 'runId' | 'workflow' | 'version' | 'definitionId'>
type OpenRun = Served & Pick<RunRecord, 'status'>
type Stranded = Served & { readonly remedy: string }

interface Fleet {
  readonly workers: readonly WorkerRecord[]
  readonly now: number
}

/** Others need an operator, or their start time, before they need a worker. */
const OPEN = ['running', 'waiting', 'compensating'] as const

/**
 * Warns when a run is awaited that no live worker can run: its wait would never end, and nothing else would say so. Once runs have been awaited for a
 * second, it reads the registry of workers and the definitions of a few of them. Runs that are paused or scheduled are left alone.
 */
export class WorkerLookout {
  readonly #parts: WorkerLookoutParts
  readonly #sources: (() => Iterable<AwaitedRun>)[] = []
  /** When each version was last warned about, by the store's number. */
  readonly #warnedAt = new Map<number, number>()
  /** When a start of each version last asked for its workers. */
  readonly #startedAt = new Map<number, number>()
  readonly #lookedAt = new Set<string>()
  #roundEndsAt = 0
  #timer: Timer | undefined
  #looksAt = 0
  #isClosed = false

  constructor(parts: WorkerLookoutParts) {
    this.#parts = parts
  }

  /** Adds a source of awaited runs, those that have been awaited longest first. */
  watch(source: () => Iterable<AwaitedRun>): void {
    this.#sources.push(source)
  }

  /** A run is awaited. Costs nothing while others are. */
  awaited(): void {
    if (this.#timer !== undefined && this.#looksAt - this.#clock.now() <= PATIENCE_MS) return
    this.#lookAfter(PATIENCE_MS)
  }

  #lookAfter(delayMs: number): void {
    if (this.#isClosed) return
    this.#timer?.cancel()
    this.#looksAt = this.#clock.now() + delayMs
    this.#timer = this.#clock.after(delayMs, () => void this.#round(), ONLY_IN_REAL_TIME)
  }

  /** A run was started: says at once if no worker can run it. Never rejects. */
  async started(run: Served): Promise<void> {
    const now = this.#clock.now()
    // Many runs of one version may be started at once.
    const wasSeen = now - (this.#startedAt.get(run.definitionId) ?? -Infinity) < PATIENCE_MS
    if (wasSeen || this.#isQuietAbout(run.definitionId) || this.#parts.ownWorker() !== 'off') return
    this.#startedAt.set(run.definitionId, now)
    await this.#look(run.runId, (stranded) => this.#warn(stranded))
  }

  /** A sentence to end a message with: that no live worker can run this run, and what to do. Empty if one can, or if the store does not say so in time. */
  async advice(runId: string): Promise<string> {
    let advice = ''
    const asking = this.#look(runId, (stranded) => {
      advice = ` ${this.#sentence(stranded)}`
    })
    await within(this.#clock, ADVICE_MS, asking)
    return advice
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  get #clock(): Clock {
    return this.#parts.runtime.clock
  }

  async #round(): Promise<void> {
    const now = this.#clock.now()
    if (now >= this.#roundEndsAt) {
      this.#lookedAt.clear()
      this.#roundEndsAt = now + QUIET_MS
    }
    const { isAwaiting, isLeft, runIds } = this.#nextRuns(now)
    // Its start may still connect and migrate.
    if (this.#parts.ownWorker() !== 'starting') for (const runId of runIds) await this.#lookAt(runId)
    this.#timer = undefined
    // Once all were looked at, the next look is that of the next round.
    if (isAwaiting) this.#lookAfter(isLeft ? PATIENCE_MS : Math.max(PATIENCE_MS, this.#roundEndsAt - now))
  }

  /** Runs that have been awaited long enough and were not looked at in this round. */
  #nextRuns(now: number) {
    const runIds: string[] = []
    let isAwaiting = false
    let isLeft = false
    for (const source of this.#sources) {
      for (const { runId, since } of source()) {
        isAwaiting = true
        if (this.#lookedAt.has(runId)) continue
        if (this.#lookedAt.size >= LOOKS_OF_ROUND_MAX) break
        if (since > now - PATIENCE_MS || runIds.length === LOOKS_MAX) {
          isLeft = true
          break
        }
        runIds.push(runId)
      }
    }
    return { isAwaiting, isLeft, runIds }
  }

  async #lookAt(runId: string): Promise<void> {
    this.#lookedAt.add(runId)
    await this.#look(runId, (stranded) => this.#warn(stranded))
  }

  /** The run if no live worker can run it; else, of a run that waits, a child of which that is so. */
  async #stranded(runId: string): Promise<Stranded | undefined> {
    const { adapter } = this.#parts
    const [[found], workers, now] = await Promise.all([
      adapter.readStatuses([runId]),
      adapter.listWorkers(),
      adapter.now(),
    ])
    if (!OPEN.some((status) => status === found?.status)) return undefined
    const run = await adapter.findRun({ runId })
    if (run === null) return undefined
    return this.#strandedAmong([{ ...run, status: found!.status }], { workers, now }, 0)
  }

  async #strandedAmong(
    runs: readonly OpenRun[],
    fleet: Fleet,
    generation: number,
  ): Promise<Stranded | undefined> {
    for (const run of runs) {
      const { reason } = capacity({ run, ...fleet })
      if (reason === 'worker') return { ...run, remedy: this.#remedy(run, fleet) }
    }
    // What is waited for may be a child.
    const waiting = runs.find(({ status }) => status === 'waiting')
    if (waiting === undefined || generation === GENERATIONS_MAX) return undefined
    const request = { parentId: waiting.runId, status: OPEN, limit: CHILDREN_MAX }
    return this.#strandedAmong(await this.#parts.adapter.listRuns(request), fleet, generation + 1)
  }

  #remedy({ workflow, version }: Served, { workers, now }: Fleet): string {
    const live = workers.filter((worker) => holdsLease(worker, now)).length
    const why = live === 0 ? '' : ` (${live} without it ${live === 1 ? 'is' : 'are'} live)`
    const { workflows, ownWorker } = this.#parts
    const isOwn = workflows.some(
      (own) => own.name === workflow && (own.version === version || version >= DERIVED_FROM),
    )
    if (isOwn && ownWorker() === 'off')
      return `${why}. This engine has the workflow, but was not started: call start() on it, or start a worker elsewhere.`
    const here = ownWorker() === 'on' ? ', or add it to the `workflows` of this engine' : ''
    return `${why}. Start a worker whose \`workflows\` include it${here}.`
  }

  #sentence({ runId, workflow, version, remedy }: Stranded): string {
    return `No live worker can run workflow "${workflow}" version ${version}, so run ${runId} cannot go on${remedy}`
  }

  #warn(stranded: Stranded): void {
    // Another look may have warned meanwhile.
    if (this.#isClosed || this.#isQuietAbout(stranded.definitionId)) return
    this.#warnedAt.set(stranded.definitionId, this.#clock.now())
    const { runId, workflow, version } = stranded
    this.#parts.log.warn(this.#sentence(stranded), { runId, workflow, version })
  }

  #isQuietAbout(definitionId: number): boolean {
    return this.#clock.now() - (this.#warnedAt.get(definitionId) ?? -Infinity) < QUIET_MS
  }

  /** Never rejects: if the store does not answer, what waits for it says so. */
  async #look(runId: string, found: (stranded: Stranded) => void): Promise<void> {
    const stranded = await this.#stranded(runId).catch(() => undefined)
    if (stranded !== undefined) found(stranded)
  }
}
