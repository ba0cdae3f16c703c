import {
  type Claim,
  type CollectedRun,
  type Delivery,
  type DrainedRun,
  isTerminal,
  type Lease,
  type Outcome,
  type Settlement,
  type StartedRun,
} from '@belay/workflow/adapter'
import { Ids } from '../scenario/ids.ts'
import type { Command, PlannedRun, PlannedSignal } from './command.ts'
import type { ComparableRun } from './comparable.ts'
import type { CollectCommand } from './planned-call.ts'

/** An attempt that a worker was given, and the outcome it settled for it. */
export interface KnownAttempt {
  readonly claim: Claim
  readonly workerId: string
  settled: Outcome | undefined
}

// Older attempts belong to runs that ended long ago.
const ATTEMPTS_MAX = 150

/** What the generator has learnt from the answers. */
export class World {
  readonly ids = new Ids()
  readonly runIds: string[] = []
  /** Runs that change no more, except when an undo continues beside a failed one. */
  readonly quiet = new Set<string>()
  /** The three workers. A new worker takes the place of a lost one. */
  readonly workerIds: (string | undefined)[] = [undefined, undefined, undefined]
  /** As they were when they were drained, with their graphs at that time: some may have moved since. */
  drained: readonly { readonly run: DrainedRun; readonly graph: number }[] = []
  /** Runs as they were last read. */
  readonly seen = new Map<string, ComparableRun>()
  /** The graph that each run follows. */
  readonly graphs = new Map<string, number>()
  /** Steps that have their signal. */
  readonly signalled = new Set<string>()
  #attempts: KnownAttempt[] = []

  get attempts(): readonly KnownAttempt[] {
    return this.#attempts
  }

  /** The runs that may change at any moment. */
  get livelyRunIds(): readonly string[] {
    return this.runIds.filter((runId) => !this.quiet.has(runId))
  }

  /** Whether a worker settles an attempt that it was given and has not settled. */
  isFirst(workerId: string, outcome: Outcome): boolean {
    const known = this.#find(workerId, outcome)
    return known !== undefined && known.settled === undefined
  }

  see(runId: string, run: ComparableRun): void {
    this.seen.set(runId, run)
    // The run may have moved to another version, in which its steps have other numbers.
    const graph = run.run['definitionId'] as number
    if (this.graphs.get(runId) !== graph) this.#renumber(runId, run)
    this.graphs.set(runId, graph)
    const { status } = run.run
    if (isTerminal(status) || status === 'compensation_failed') this.quiet.add(runId)
  }

  learn(command: Command, answer: unknown): void {
    switch (command.do) {
      case 'start':
        this.#started(command, answer as StartAnswer)
        break
      case 'collect':
        return this.#collected(command, answer as readonly CollectedRun[])
      case 'signal':
        this.#signalled(command.signals, answer as readonly Delivery[])
        break
      case 'register':
        this.workerIds[this.workerIds.indexOf(undefined)] = command.workerId
        break
      case 'claim':
        if (answer === 'lost') this.#dropWorker(command.workerId)
        else this.#remember(command.workerId, answer as readonly Claim[])
        break
      case 'settle':
        for (const outcome of command.outcomes) this.#settle(command.workerId, outcome)
        this.#remember(command.workerId, (answer as { claims: readonly Claim[] }).claims)
        break
      case 'enter':
        return this.#entered(command.workerId, command.outcomes, answer as Pick<Settlement, 'results'>)
      case 'within':
        if (!command.commits) break
        this.#started(command, (answer as WithinAnswer).started)
        this.#signalled(command.signals, (answer as WithinAnswer).deliveries)
        break
      case 'prune':
        for (const runId of answer as readonly string[]) this.#forget(runId)
        break
      case 'leave':
        this.#dropWorker(command.workerId)
        break
      case 'sweep':
        for (const workerId of (answer as { lostWorkers: string[] }).lostWorkers) this.#markLate(workerId)
        break
      case 'operate':
        return this.#operated(command.runId, answer as object)
      case 'drain':
        this.#hasDrained(answer as readonly DrainedRun[])
    }
  }

  #hasDrained(runs: readonly DrainedRun[]): void {
    this.drained = runs.map((run) => ({ run, graph: this.graphs.get(run.runId)! }))
  }

  /** A parked step is released, and one that does not wait is skipped or released; every other attempt goes on. */
  #entered(workerId: string, outcomes: readonly Outcome[], { results }: Pick<Settlement, 'results'>): void {
    outcomes.forEach(({ runId, step, fence, direction, definitionId }, index) => {
      const result = results[index]!
      const isFull = typeof result === 'object' && 'full' in result
      if (result !== 'parked' && !isFull) return
      const ref = { runId, step, fence, direction, definitionId }
      const skips = isFull && result.full.of === 'step'
      this.#settle(
        workerId,
        skips ? { ...ref, type: 'skipped', branch: result.full.ifFull! } : { ...ref, type: 'released' },
      )
    })
  }

  #started({ runs, lease }: StartCommand, started: StartAnswer): void {
    this.runIds.push(...started.filter((run) => run.created).map((run) => run.runId))
    for (const { runId, graph } of runs) this.graphs.set(runId, graph)
    for (const { claims } of started) if (claims !== undefined) this.#remember(lease!.workerId, claims)
  }

  /** Their definitions are named by their graphs. */
  #collected({ within }: CollectCommand, collected: readonly CollectedRun[]): void {
    if (within === 'rolls back') return
    const opened = collected.filter(({ created }) => created)
    this.runIds.push(...opened.map(({ runId }) => runId))
    for (const { runId, definitionId } of opened) this.graphs.set(runId, definitionId)
  }

  /** The run may go forward again. */
  #operated(runId: string, answer: object): void {
    if ('done' in answer) this.quiet.delete(runId)
  }

  #renumber(runId: string, { steps }: ComparableRun): void {
    for (const name of this.signalled) if (name.startsWith(runId)) this.signalled.delete(name)
    for (const { step, signalledAt } of steps)
      if (signalledAt !== null) this.signalled.add(`${runId}/${step}`)
  }

  #forget(runId: string): void {
    this.runIds.splice(this.runIds.indexOf(runId), 1)
    this.quiet.delete(runId)
    this.seen.delete(runId)
  }

  /** Whether a worker has settled everything that it was given, as far as this world remembers. */
  holdsNothing(workerId: string): boolean {
    return this.#attempts.every((known) => known.workerId !== workerId || known.settled !== undefined)
  }

  #signalled(signals: readonly PlannedSignal[], deliveries: readonly Delivery[]): void {
    deliveries.forEach(({ result }, index) => {
      const { runId, step } = signals[index]!
      if (result === 'delivered' || result === 'kept') this.signalled.add(`${runId}/${step}`)
    })
  }

  #remember(workerId: string, claims: readonly Claim[]): void {
    for (const claim of claims) this.#attempts.push({ claim, workerId, settled: undefined })
    this.#attempts = this.#attempts.slice(-ATTEMPTS_MAX)
  }

  #settle(workerId: string, outcome: Outcome): void {
    const known = this.#find(workerId, outcome)
    // After a decision, the attempt goes on.
    if (known !== undefined && outcome.type !== 'decided') known.settled ??= outcome
  }

  /** Marks a worker's attempts as late. Their outcomes are not known, so a release stands for them. */
  #markLate(workerId: string): void {
    for (const known of this.#attempts) {
      if (known.workerId === workerId) known.settled ??= { ...known.claim, type: 'released' }
    }
  }

  #dropWorker(workerId: string): void {
    const place = this.workerIds.indexOf(workerId)
    if (place >= 0) this.workerIds[place] = undefined
  }

  #find(workerId: string, { runId, step, fence }: Outcome): KnownAttempt | undefined {
    return this.#attempts.find(
      ({ claim, workerId: owner }) =>
        owner === workerId && claim.runId === runId && claim.step === step && claim.fence === fence,
    )
  }
}

interface StartCommand {
  readonly runs: readonly PlannedRun[]
  readonly lease?: Lease | undefined
}

type StartAnswer = readonly Pick<StartedRun, 'runId' | 'created' | 'claims'>[]

interface WithinAnswer {
  readonly started: StartAnswer
  readonly deliveries: readonly Delivery[]
}
