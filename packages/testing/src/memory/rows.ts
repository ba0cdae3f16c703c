import type {
  Clock,
  Collection,
  EndStatus,
  HistoryRecord,
  JsonText,
  KeptAttempt,
  NewItem,
  ParentRun,
  SavedDefinition,
  StepStatus,
  StoredRunStatus,
  UndoneStatus,
  UndoPlan,
  UndoRecord,
} from '@belay/workflow/adapter'
import { LimitRows } from './limit-rows.ts'
import { type QueuedStep, ReadyQueue } from './ready-queue.ts'
import type { ScheduleRow } from './schedule-row.ts'

export interface DefinitionRow {
  readonly saved: SavedDefinition
  readonly createdAt: number
  /** For each step, the steps that depend on it, ascending. */
  readonly dependents: readonly (readonly number[])[]
}

export interface RunRow {
  readonly runId: string
  definition: DefinitionRow
  readonly workflow: string
  key: string | null
  /** Changes only while the run collects calls, before it begins; so do the next two. */
  input: JsonText
  readonly inputHash: string | null
  readonly createdAt: number
  startAt: number | null
  deadlineAt: number | null
  tags: readonly string[]
  parent: ParentRun | null
  /** 0 for none. */
  priority: number
  /** Each of its ends is kept until it is forgotten. */
  reportsEnd: boolean
  steps: readonly StepRow[]
  /** The items of its maps, by number. */
  readonly items: Map<number, StepRow>
  status: StoredRunStatus
  /** While the run goes forward, the number of open sinks; during an undo, the number of open undos. */
  openSteps: number
  /** Null until the undo begins. */
  endsAs: UndoPlan['endsAs'] | null
  stop: 'failure' | 'cancellation' | 'abandonment' | null
  cause: JsonText
  finishedAt: number | null
}

export interface StepRow {
  readonly step: number
  status: StepStatus
  /** Forward, the number of open dependencies; in an undo, the number of dependents whose undo has not ended. */
  openDependencies: number
  fence: number
  round: number
  /** `attempts`, `failures`, `losses`, `startedAt`, `finishedAt` and `error` are about the forward direction. */
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
  /** When a ready or waiting step is due. Null means at once, or a wait without a timeout. */
  availableAt: number | null
  waitingSince: number | null
  signalledAt: number | null
  /** When the first attempt of the newest series of failures began. */
  failingSince: number | null
  /** Whether a handler has begun in an attempt that did not complete; null if nobody recorded it. */
  begun: boolean | null
  /** In this round the handler returned a result that cannot be stored: its effect is there. */
  succeeded: boolean
  /** Only of an item of a map. */
  readonly item: NewItem | null
  /** Only of a step that joins a map with limited concurrency: its `Turns`. */
  atOnce: number | null
  nextItem: number | null
  itemOrder: readonly number[] | null
  /** Its run's and its own. */
  priority: number
  /** Whether the step runs, as its definition decided; null before that. */
  branch: JsonText
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

/** A recorded signal. */
export interface SignalRow {
  readonly runId: string
  readonly step: number
  readonly key: string
  readonly actor: string | null
  readonly payload: string | null
  readonly payloadHash: string | undefined
  readonly receivedAt: number
  /** 0 for the step's present signal. Grows each time the step asks anew. */
  readonly superseded: number
}

/** An ended attempt that was kept, with its step's number. */
export type AttemptRow = Omit<KeptAttempt, 'name'> & { readonly fence: number }

/** The latest value that a step gave a key of its run, or its latest progress. */
export interface ValueRow {
  readonly step: number
  readonly fence: number
  readonly sequence: number
  /** Null for the step's progress. */
  readonly key: string | null
  readonly value: string
  readonly at: number
}

/** One end of a run that reports its ends, not forgotten yet. */
export interface RunEndRow {
  readonly sequence: number
  readonly runId: string
  readonly definitionId: number
  readonly status: EndStatus
}

/** A queued step that takes its place once it is due, unless it was claimed or moved meanwhile. */
export interface LateStep extends QueuedStep {
  readonly fence: number
  readonly place: number
}

/** The newest run that collects for a definition and key. */
export type CollectionRow = Collection

/** A call that a run carries. */
export interface CallRow {
  readonly callId: string
  readonly runId: string
  readonly position: number
  readonly inputHash: string | null
  readonly definitionId: number
  readonly collectKey: string
  /** How many calls of its run are kept, the newest ones. */
  readonly keptMax: number
}

/** An open transaction, as seen by those who wait for a name that it holds. */
export interface NameHolder {
  /** Resolves when the transaction ends. */
  readonly ended: Promise<void>
  /** The transaction for which this one waits. */
  waitsFor: NameHolder | undefined
}

/** Everything in a memory store. All connected adapters share it. */
export class Rows {
  readonly clock: Clock
  readonly definitions = new Map<number, DefinitionRow>()
  readonly runs = new Map<string, RunRow>()
  /** Runs that can still change, so that ended runs cost nothing. */
  readonly liveRuns = new Set<RunRow>()
  readonly workers = new Map<string, WorkerRow>()
  readonly queue = new ReadyQueue()
  /** Queued steps whose place is not theirs until they are due. */
  readonly lateSteps = new Set<LateStep>()
  readonly limits = new LimitRows()
  /** Keys, runs and steps that open transactions hold, by name. Whoever wants one of them waits. */
  readonly heldNames = new Map<string, NameHolder>()
  /** Operators' actions, by run id, oldest first. */
  readonly history = new Map<string, readonly HistoryRecord[]>()
  /** Signals, by run id, oldest first. They make it harmless to send a signal twice. */
  readonly signals = new Map<string, readonly SignalRow[]>()
  /** Ended attempts that were kept, by run, in the order in which they ended. */
  readonly attempts = new Map<string, readonly AttemptRow[]>()
  /** What steps told, by run. */
  readonly values = new Map<string, readonly ValueRow[]>()
  /** Ends that are kept, by sequence, ascending. */
  readonly runEnds = new Map<number, RunEndRow>()
  /** By definition and key. */
  readonly collections = new Map<string, CollectionRow>()
  /** Calls by their id, and those of a run in their order. */
  readonly calls = new Map<string, CallRow>()
  readonly callsOf = new Map<string, CallRow[]>()
  /** Schedules by name. */
  readonly schedules = new Map<string, ScheduleRow>()
  /** Grows with every change that somebody who looks again could find. Renewals are none. */
  changes = 0
  /** Workers whose lease is sure to be renewed as long as the function says so. */
  readonly trusted = new Map<string, () => boolean>()
  readonly #keys = new Map<string, RunRow>()
  #ends = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** The store's time. Constant within a verb, because verbs run synchronously and only tests move the clock. */
  get now(): number {
    return this.clock.now()
  }

  addRun(run: RunRow): void {
    this.runs.set(run.runId, run)
    this.liveRuns.add(run)
    if (run.key !== null) this.#keys.set(keyOf(run.workflow, run.key), run)
  }

  /** Keeps the end of a run that reports its ends. */
  keepEnd({ runId, definition }: RunRow, status: EndStatus): void {
    this.#ends += 1
    const definitionId = definition.saved.id
    this.runEnds.set(this.#ends, { sequence: this.#ends, runId, definitionId, status })
  }

  /** Removes an ended run and everything that belongs to it. */
  removeRun(run: RunRow): void {
    this.releaseKey(run)
    this.runs.delete(run.runId)
    this.history.delete(run.runId)
    this.attempts.delete(run.runId)
    this.signals.delete(run.runId)
    this.values.delete(run.runId)
    this.#removeCalls(run)
    this.limits.removeRun(run.runId)
    for (const step of [...run.steps.keys(), ...run.items.keys()])
      this.queue.remove({ runId: run.runId, step })
  }

  addCall(call: CallRow): void {
    this.calls.set(call.callId, call)
    const calls = this.callsOf.get(call.runId) ?? []
    this.callsOf.set(call.runId, calls)
    calls.push(call)
    if (calls.length > call.keptMax) this.calls.delete(calls.shift()!.callId)
  }

  #removeCalls({ runId }: RunRow): void {
    for (const { callId } of this.callsOf.get(runId) ?? []) this.calls.delete(callId)
    this.callsOf.delete(runId)
    for (const [name, collection] of this.collections)
      if (collection.runId === runId && collection.closesAt <= this.now) this.collections.delete(name)
  }

  releaseKey(run: RunRow): void {
    if (run.key === null) return
    this.#keys.delete(keyOf(run.workflow, run.key))
    run.key = null
  }

  runByKey(workflow: string, key: string): RunRow | undefined {
    return this.#keys.get(keyOf(workflow, key))
  }

  /** A transaction other than `tx` that holds one of these names. */
  holderOf(names: readonly string[], tx: NameHolder | undefined): NameHolder | undefined {
    if (this.heldNames.size === 0) return undefined
    return names
      .map((name) => this.heldNames.get(name))
      .find((holder) => holder !== undefined && holder !== tx)
  }

  /** Oldest first: run ids are ordered by time. */
  liveRunsByAge(): readonly RunRow[] {
    return [...this.liveRuns].sort((one, other) => (one.runId < other.runId ? -1 : 1))
  }
}

export function keyOf(workflow: string, key: string): string {
  return JSON.stringify([workflow, key])
}
