import type {
  Adapter,
  CallerTransaction,
  EndedWell,
  NewRun,
  NewSignal,
  Outcome,
} from '@belay/workflow/adapter'
import type { Harness } from '../harness.ts'
import { CANCELLED } from '../scenario/index.ts'
import { UNLIMITED, withoutInput } from '../scenario/worker.ts'
import { collect } from './collected.ts'
import type { Command, LimitCommand, PlannedRun, PlannedSignal } from './command.ts'
import { type ComparableRun, comparableRun, type Translation } from './comparable.ts'
import { GRAPHS } from './graphs.ts'
import { applyLimitCommand, isAboutLimits } from './limits.ts'
import { look } from './look.ts'
import { operated } from './operate.ts'
import { endsOf } from './run-ends.ts'
import { applySchedule } from './schedules.ts'
import { transactAlone } from './transact-alone.ts'
import { WatchedItems } from './watched.ts'
import { definitionsWithin, pausedAndResumed } from './within.ts'

// Time moves by multiples of three, and this is none. The port leaves open whether a lease is over at its last instant.
const LEASE_MS = 10_000
const SWEEPS_MAX = 1_000
/** Few enough that runs reach it. */
const KEYS_MAX = 3
/** Whatever has ended, ended before this. */
const FAR = Date.UTC(2100, 0, 1)
const ROLLED_BACK = new Error('to be rolled back')

/** One of the two adapters. It answers in terms that both share. */
export class Side {
  readonly name: string
  readonly harness: Harness
  readonly #definitionIds: readonly number[]
  readonly #watched = new WatchedItems()
  readonly #translation: Translation

  private constructor(harness: Harness, definitionIds: readonly number[], startedAt: number) {
    this.name = harness.adapter.name
    this.harness = harness
    this.#definitionIds = definitionIds
    this.#translation = { graphOf: (id) => definitionIds.indexOf(id), startedAt }
  }

  static async prepare(harness: Harness): Promise<Side> {
    const saved = await harness.adapter.saveDefinitions(GRAPHS)
    return new Side(
      harness,
      saved.map(({ id }) => id),
      await harness.adapter.now(),
    )
  }

  get adapter(): Adapter {
    return this.harness.adapter
  }

  /** The rows of these runs, in terms that both sides share. */
  async read(runIds: readonly string[]): Promise<Readonly<Record<string, ComparableRun>>> {
    const rows: Record<string, ComparableRun> = {}
    for (const runId of runIds) {
      const read = await this.adapter.readRun(runId)
      if (read === null) throw new Error(`${this.name} lost run ${runId}.`)
      await this.#watched.compare(this.adapter, runId, read.steps)
      rows[runId] = comparableRun(read, this.#translation)
    }
    return rows
  }

  /** The verb's answer, except for the numbers of definitions. */
  async apply(command: Command): Promise<unknown> {
    return this.#withGraphs(await this.#answer(command))
  }

  // Longer than other functions: one arm for each command, checked to be exhaustive.
  #answer(command: Command): Promise<unknown> {
    if (isAboutLimits(command)) return this.#limits(command)
    switch (command.do) {
      case 'start':
        return this.adapter.startRuns(this.#runs(command.runs), { lease: command.lease })
      case 'register':
        return this.adapter.registerWorker({ workerId: command.workerId, name: 'w', leaseMs: LEASE_MS })
      case 'renew':
        return this.adapter.renew({ workerId: command.workerId, leaseMs: LEASE_MS })
      case 'held':
        return this.adapter.held({ workerId: command.workerId })
      case 'claim':
        return this.#claim(command)
      case 'settle':
        return this.#settle(command)
      case 'publish':
        return this.adapter.publish({ workerId: command.workerId, values: command.values, keysMax: KEYS_MAX })
      case 'advance':
        return this.harness.advance(command.ms)
      case 'sweep':
        return this.#sweep()
      case 'drain':
        return this.adapter.drain({ definitionIds: this.#definitionIds, limit: UNLIMITED })
      case 'undo':
        return this.adapter.beginUndo(command.plans)
      case 'signal':
        return this.adapter.deliverSignals(this.#signals(command.signals))
      case 'expire':
        return this.adapter.expireRuns({ limit: UNLIMITED })
      case 'upcoming':
        return this.adapter.upcoming({ definitionIds: this.#definitionIds })
      case 'approvals':
        return this.#approvals()
      case 'within':
        return this.#within(command)
      case 'recorded':
        return this.adapter.recorded({ workerId: command.workerId, outcomes: this.#own(command.outcomes) })
      case 'leave':
        return this.adapter.deregisterWorker({ workerId: command.workerId })
      case 'prune':
      case 'releaseKeys':
        return this.adapter[command.do]({ runIds: command.runIds, finishedBefore: FAR })
      case 'workers':
      case 'diagnose':
      case 'definitions':
      case 'newest':
      case 'listDefinitions':
      case 'countReady':
      case 'attempts':
      case 'listHeld':
      case 'statuses':
      case 'observe':
      case 'values':
      case 'collected':
      case 'find':
      case 'findByKey':
      case 'list':
      case 'count':
      case 'children':
      case 'findEnded':
        return look(this.adapter, command, {
          definitionIds: this.#definitionIds,
          startedAt: this.#translation.startedAt,
        })
      case 'cancel':
        return this.adapter.cancelRuns({ runIds: command.runIds, cause: CANCELLED })
      case 'stopping':
        return this.adapter.stopping({ runIds: command.runIds })
      case 'load':
        return this.adapter.load([
          {
            runId: command.runId,
            steps: [0, 1, 2],
            branches: command.branches,
            lastRoundsOf: [1],
            outputsOf: [0, 1],
          },
        ])
      case 'collect':
        return collect(this.harness, command, {
          definitionIds: this.#definitionIds,
          startedAt: this.#translation.startedAt,
        })
      case 'wakeParents':
        return this.adapter.wakeParents(command.runIds)
      case 'ends':
        return endsOf(this.adapter, this.#definitionIds, command.forgotten)
      case 'history':
        return this.#history(command.runId)
      case 'operate':
        return operated(this.adapter, command)
      case 'schedule':
        return applySchedule(this.harness, command, {
          startedAt: this.#translation.startedAt,
          definitionIds: this.#definitionIds,
        })
    }
  }

  #limits(command: LimitCommand): Promise<unknown> {
    return applyLimitCommand(this.adapter, command, { ...this.#translation, own: (all) => this.#own(all) })
  }

  async #approvals(): Promise<unknown> {
    const found = await Promise.all(
      (['approval', 'signal'] as const).map((kind) =>
        this.adapter.findApprovals({ kind, after: null, limit: UNLIMITED }),
      ),
    )
    const approvals = found.flatMap((page) => page.approvals)
    const instant = (at: number | null) => (at === null ? null : Math.round(at - this.#translation.startedAt))
    // As separate lists, since their order counts.
    return {
      approvals: approvals.map(({ since, timeoutAt, ...approval }) => ({
        ...approval,
        since: instant(since),
        timeoutAt: instant(timeoutAt),
      })),
    }
  }

  #runs(runs: readonly PlannedRun[]): readonly NewRun[] {
    return runs.map(({ graph, ...run }) => ({
      ...run,
      definitionId: this.#definitionIds[graph]!,
      workflow: GRAPHS[graph]!.name,
    }))
  }

  #signals(signals: readonly PlannedSignal[]): readonly NewSignal[] {
    return signals.map(({ graph, ...signal }) => ({
      ...signal,
      definitionId: this.#definitionIds[graph]!,
      actor: null,
    }))
  }

  #own(outcomes: readonly Outcome[]): readonly Outcome[] {
    return outcomes.map((outcome) => ({
      ...outcome,
      definitionId: this.#definitionIds[outcome.definitionId]!,
    }))
  }

  /** A transaction that is rolled back has an answer too. */
  async #within({ runs, signals, commits }: Extract<Command, { do: 'within' }>): Promise<unknown> {
    let answer: unknown
    const work = async (tx: CallerTransaction) => {
      const definitions = await definitionsWithin(this.adapter, tx)
      const started = await this.adapter.startRuns(this.#runs(runs), { tx })
      const controlled = await pausedAndResumed(this.adapter, runs[0]!.runId, tx)
      const deliveries = await this.adapter.deliverSignals(this.#signals(signals), { tx })
      const now = Math.round((await this.adapter.now({ tx })) - this.#translation.startedAt)
      answer = { definitions, started, controlled, deliveries, now }
      if (!commits) throw ROLLED_BACK
    }
    await this.harness.transaction(work).catch((error: unknown) => {
      if (error !== ROLLED_BACK) throw error
    })
    return answer
  }

  async #history(runId: string): Promise<unknown> {
    const entries = await this.adapter.readHistory({ runId, limit: UNLIMITED })
    return entries.map(({ at, change, ...entry }) => ({
      ...entry,
      at: Math.round(at - this.#translation.startedAt),
      change: change === null ? null : JSON.parse(change),
    }))
  }

  async #claim({ workerId, graphs }: Extract<Command, { do: 'claim' }>): Promise<unknown> {
    const definitionIds = graphs.map((graph) => this.#definitionIds[graph]!)
    // Undos first, as a worker does whose slots are taken; then all the rest.
    const undo = await this.adapter.claim({ workerId, definitionIds, limit: 1, undosOnly: true })
    const rest = await this.adapter.claim({ workerId, definitionIds, limit: UNLIMITED })
    if (undo === 'lost' || rest === 'lost') return rest
    return [...undo.claims, ...rest.claims].map(withoutInput)
  }

  async #settle(command: Extract<Command, { do: 'settle' }>): Promise<unknown> {
    const { workerId, outcomes, handBackMax, told } = command
    const own = this.#own(outcomes)
    const [only] = own
    const isAlone = own.length === 1 && only !== undefined && endedWell(only)
    const settlement = isAlone
      ? await transactAlone(this.adapter, workerId, {
          outcome: only,
          handBackMax,
          told: { values: told, keysMax: KEYS_MAX },
          frees: own,
        })
      : await this.adapter.settle({ workerId, outcomes: own, handBackMax, frees: own })
    return { ...settlement, claims: settlement.claims.map(withoutInput) }
  }

  /** Sweeps until nothing is left: how much one sweep does is the store's choice. */
  async #sweep(): Promise<unknown> {
    const lostWorkers: string[] = []
    const recovered: unknown[] = []
    for (let sweeps = 0; sweeps < SWEEPS_MAX; sweeps += 1) {
      const swept = await this.adapter.sweep({ limit: 5 })
      lostWorkers.push(...swept.lostWorkers)
      recovered.push(...swept.recovered)
      if (!swept.more) break
    }
    return { lostWorkers, recovered }
  }

  #withGraphs(answer: unknown): unknown {
    return JSON.parse(
      JSON.stringify(answer ?? null, (key, value) =>
        key === 'definitionId' ? this.#translation.graphOf(value) : value,
      ),
    )
  }
}

function endedWell(outcome: Outcome): outcome is EndedWell {
  return outcome.type === 'completed' || outcome.type === 'compensated'
}
