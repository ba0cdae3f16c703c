import type {
  Clock,
  HistoryRecord,
  JsonText,
  KeptAttempt,
  SavedDefinition,
  StepStatus,
  StoredRunStatus,
  UndoneStatus,
  UndoPlan,
  UndoRecord,
} from '@belay/workflow/adapter'
import { ReadyQueue } from './ready-queue.ts'

export interface DefinitionRow {
  readonly saved: SavedDefinition
  /** For each step the steps that depend on it, ascending. */
  readonly dependents: readonly (readonly number[])[]
}

export interface RunRow {
  readonly runId: string
  definition: DefinitionRow
  readonly workflow: string
  key: string | null
  readonly input: JsonText
  readonly inputHash: string | null
  readonly createdAt: number
  readonly startAt: number | null
  deadlineAt: number | null
  readonly tags: readonly string[]
  steps: readonly StepRow[]
  status: StoredRunStatus
  /** Going forward the sinks that have not completed, in an undo the undos that have not ended. */
  openSteps: number
  /** Null until the undo has begun. */
  endsAs: UndoPlan['endsAs'] | null
  stop: 'failure' | 'cancellation' | 'abandonment' | null
  cause: JsonText
  finishedAt: number | null
}

export interface StepRow {
  readonly step: number
  status: StepStatus
  /** Going forward the dependencies, in an undo the dependents that have not ended. */
  openDependencies: number
  fence: number
  round: number
  /** These, and `startedAt`, `finishedAt` and `error`, are of the way forward. */
  attempts: number
  failures: number
  losses: number
  workerId: string | null
  undoOf: UndoneStatus | null
  undo: UndoRecord | null
  startedAt: number | null
  finishedAt: number | null
  output: JsonText
  error: JsonText
  /** Of a step that is ready or waiting: when it is due. Null for at once, or for a wait without end. */
  availableAt: number | null
  waitingSince: number | null
  signalledAt: number | null
  /** When the first of the newest series of failed attempts began. */
  failingSince: number | null
  /** Whether a handler of an attempt that did not complete has begun; null when nobody recorded it. */
  begun: boolean | null
  /** In this round its handler returned what cannot be stored: its effect is there. */
  succeeded: boolean
}

export interface WorkerRow {
  readonly workerId: string
  readonly name: string
  readonly startedAt: number
  readonly slots: number | null
  readonly host: string | null
  readonly definitionIds: readonly number[] | null
  status: 'live' | 'dead'
  leaseExpiresAt: number
  renewedAt: number
  busy: number | null
  known: number | null
}

/** A signal as it was recorded. */
export interface SignalRow {
  readonly runId: string
  readonly step: number
  readonly key: string
  readonly actor: string | null
  readonly payload: string | null
  readonly payloadHash: string | undefined
  readonly receivedAt: number
  /** 0 for the signal that the step has; counted up when the step asks anew. */
  readonly superseded: number
}

/** An attempt that has ended, as it is kept: by its step's number. */
export type AttemptRow = Omit<KeptAttempt, 'name'> & { readonly fence: number }

/** An open transaction, as those see it who wait for a name that it holds. */
export interface NameHolder {
  /** Resolves once it is over. */
  readonly ended: Promise<void>
  /** The transaction that this one waits for. */
  waitsFor: NameHolder | undefined
}

/** Everything a memory store holds, shared by the adapters connected to it. */
export class Rows {
  readonly clock: Clock
  readonly definitions = new Map<number, DefinitionRow>()
  readonly runs = new Map<string, RunRow>()
  /** The runs that can still change, so that finished ones cost nothing. */
  readonly liveRuns = new Set<RunRow>()
  readonly workers = new Map<string, WorkerRow>()
  readonly queue = new ReadyQueue()
  /** Keys and steps that open transactions hold, by name: whoever wants one of them waits. */
  readonly heldNames = new Map<string, NameHolder>()
  /** What operators did, by run id, oldest first. */
  readonly history = new Map<string, readonly HistoryRecord[]>()
  /** What runs were told, by run id, oldest first: what makes sending a signal twice harmless. */
  readonly signals = new Map<string, readonly SignalRow[]>()
  /** Attempts that have ended and were kept, by run, in the order they ended. */
  readonly attempts = new Map<string, readonly AttemptRow[]>()
  readonly #keys = new Map<string, RunRow>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** The store's time. Constant within a verb, because verbs run without a pause on a clock that a test moves. */
  get now(): number {
    return this.clock.now()
  }

  addRun(run: RunRow): void {
    this.runs.set(run.runId, run)
    this.liveRuns.add(run)
    if (run.key !== null) this.#keys.set(keyOf(run.workflow, run.key), run)
  }

  /** Forgets a run that has ended, with everything that belongs to it. */
  removeRun(run: RunRow): void {
    this.releaseKey(run)
    this.runs.delete(run.runId)
    this.history.delete(run.runId)
    this.attempts.delete(run.runId)
    this.signals.delete(run.runId)
    for (const { step } of run.steps) this.queue.remove({ runId: run.runId, step })
  }

  releaseKey(run: RunRow): void {
    if (run.key === null) return
    this.#keys.delete(keyOf(run.workflow, run.key))
    run.key = null
  }

  runByKey(workflow: string, key: string): RunRow | undefined {
    return this.#keys.get(keyOf(workflow, key))
  }

  /** Another transaction than `tx` that holds one of these names. */
  holderOf(names: readonly string[], tx: NameHolder | undefined): NameHolder | undefined {
    if (this.heldNames.size === 0) return undefined
    return names
      .map((name) => this.heldNames.get(name))
      .find((holder) => holder !== undefined && holder !== tx)
  }

  /** The oldest first: run ids are ordered by time. */
  liveRunsByAge(): readonly RunRow[] {
    return [...this.liveRuns].sort((one, other) => (one.runId < other.runId ? -1 : 1))
  }
}

export function keyOf(workflow: string, key: string): string {
  return JSON.stringify([workflow, key])
}
