import type { Engine, StepEvent, WorkflowDefinition } from '@belay/workflow'
import type {
  Adapter,
  Clock,
  Delivery,
  NewSignal,
  Outcome,
  Settlement,
  StepRecord,
  StepShape,
} from '@belay/workflow/adapter'
import { checkInvariants, type RunDump } from '../invariants/index.ts'
import type { MemoryAdapter } from '../memory/index.ts'
import { STAND_IN, type Written } from './workload.ts'

/**
 * Watches a simulated world and says what broke: at every handler call that its worker has the right to, whether it may happen now; at every
 * recorded outcome, whether it was recorded before; at the end, whether every run came to the end that its steps imply.
 */
export class Oracle {
  readonly violations: string[] = []
  readonly #store: MemoryAdapter<Clock>
  readonly #now: () => number
  readonly #workflows: ReadonlyMap<string, WorkflowDefinition>
  /** (run, step, kind) → the attempt that it was recorded for. */
  readonly #recorded = new Map<string, number>()
  /** How often transactional handlers' writes were committed, and their outcomes, by run, step and outcome. */
  readonly #written = new Map<string, number>()
  readonly #transacted = new Map<string, number>()
  /** (run, step) → the payload of the signal that it took. */
  readonly #taken = new Map<string, string | null>()

  /** `now` is the store's time. */
  constructor(
    store: MemoryAdapter<Clock>,
    workflows: ReadonlyMap<string, WorkflowDefinition>,
    now: () => number,
  ) {
    this.#store = store
    this.#now = now
    this.#workflows = workflows
  }

  /** Follows an engine's handler calls. */
  watch(engine: Engine): void {
    engine.on('step.started', (event) => this.#called(event))
  }

  /** Looks at a settlement as the store answered it, whether or not the answer arrives. */
  settled(request: Parameters<Adapter['settle']>[0], settlement: Settlement): void {
    request.outcomes.forEach((outcome, index) => {
      if (settlement.results[index] === 'settled') this.#recordedOutcome(outcome, request.workerId)
    })
  }

  /** A transaction was committed with this outcome: so must be what its handler wrote. */
  transacted(workerId: string, outcome: Outcome): void {
    this.#recordedOutcome(outcome, workerId)
    const { workflow } = this.#store.dump().runs.find(({ run }) => run.runId === outcome.runId)!.run
    const step = this.#workflows.get(workflow)!.graph.names[outcome.step]!
    count(this.#transacted, `${outcome.runId}/${step}/${outcome.type}`)
  }

  /** A transactional handler's write has been committed. */
  written({ runId, step, outcome }: Written): void {
    count(this.#written, `${runId}/${step}/${outcome}`)
  }

  /**
   * Looks at a run that an operator may have changed. What was sent on its way again may be recorded again; what was undone by hand counts as
   * recorded; a decision that is asked for anew may be given again.
   */
  changed(runId: string): void {
    const found = this.#store.dump().runs.find(({ run }) => run.runId === runId)
    for (const { step, status, signalledAt } of found?.steps ?? []) {
      const [completed, compensated] = ['completed', 'compensated'].map((type) => `${runId}/${step}/${type}`)
      if (status === 'pending' || status === 'ready') {
        this.#recorded.delete(completed!)
        this.#recorded.delete(compensated!)
        // What it was told may be why it failed: it asks anew.
        if (signalledAt === null) this.#taken.delete(`${runId}/${step}`)
      }
      if (status === 'compensated' && !this.#recorded.has(compensated!)) this.#recorded.set(compensated!, -1)
    }
  }

  /** Looks at signals as the store answered them, whether or not the answer arrives. */
  signalled(signals: readonly NewSignal[], deliveries: readonly Delivery[]): void {
    deliveries.forEach(({ result }, index) => {
      const { runId, step, payload } = signals[index]!
      const key = `${runId}/${step}`
      if (result === 'unknown') this.#broken(`a signal for ${key} found no such step`)
      if (result !== 'delivered' && result !== 'kept') return
      if (this.#taken.has(key)) this.#broken(`${key} took two signals`)
      this.#taken.set(key, payload)
    })
  }

  /** Somebody who sent a signal or decision was told of an error. */
  refused(what: string, error: unknown): void {
    const code = (error as { readonly code?: string }).code ?? ''
    if (!EXPECTED_REFUSALS.has(code)) this.#broken(`${what} was refused: ${String(error)}`)
  }

  /** Facts that must hold at any moment. */
  checkNow(): void {
    for (const { invariant, message, runId, step } of checkInvariants(this.#store.dump())) {
      this.#broken(`${invariant}: run ${runId} step ${step}: ${message}`)
    }
  }

  /** What must hold once everything has come to rest. */
  checkEnd(started: ReadonlyMap<string, string>): void {
    this.checkNow()
    const { runs } = this.#store.dump()
    for (const [runId, why] of started) {
      if (!runs.some(({ run }) => run.runId === runId)) this.#broken(`run ${runId} vanished: ${why}`)
    }
    for (const run of runs) this.#checkEndOf(run)
    this.#checkWritten()
  }

  #broken(violation: string): void {
    if (this.violations.length < 20) this.violations.push(violation)
  }

  #recordedOutcome(outcome: Outcome, workerId: string): void {
    const found = this.#store.dump().runs.find(({ run }) => run.runId === outcome.runId)
    const step = found?.steps[outcome.step]
    const foreign = step?.workerId !== null && step?.workerId !== workerId
    if (step?.fence !== outcome.fence || foreign) {
      const where = `step ${outcome.step} of run ${outcome.runId}`
      this.#broken(`${where} took a settlement of attempt ${outcome.fence} while ${step?.fence} holds it`)
    }
    const type = outcome.type === 'received' ? 'completed' : outcome.type
    if (type !== 'completed' && type !== 'compensated') return
    const key = `${outcome.runId}/${outcome.step}/${type}`
    const before = this.#recorded.get(key)
    if (before !== undefined && before !== outcome.fence) {
      this.#broken(`${key} was recorded twice: for attempts ${before} and ${outcome.fence}`)
    }
    this.#recorded.set(key, outcome.fence)
  }

  #called(event: StepEvent): void {
    const found = this.#store.dump().runs.find(({ run }) => run.runId === event.runId)
    const workflow = this.#workflows.get(event.workflow)
    if (found === undefined || workflow === undefined) {
      this.#broken(`a handler was called for no run: ${event.runId}`)
      return
    }
    this.#checkLease(event)
    const rows = found.steps
    const number = workflow.graph.numberOf(event.step)!
    const row = rows[number]!
    // A worker from which somebody has just taken the step may not know it yet.
    const { attempts } = event.direction === 'undo' ? (row.undo ?? row) : row
    if (row.workerId !== event.workerId || attempts !== event.attempt) return
    if (event.direction === 'forward' && row.status === 'running')
      this.#checkForwardCall(found, workflow, number)
    if (event.direction === 'undo' && row.status === 'compensating')
      this.#checkUndoCall(found, workflow, number)
  }

  /** No handler begins once its worker's lease may be over: somebody else may have the step, and its run may be undone already. */
  #checkLease({ runId, step, workerId }: StepEvent): void {
    const worker = this.#store.dump().workers?.find((row) => row.workerId === workerId)
    if (worker?.status === 'live' && worker.leaseExpiresAt > this.#now()) return
    this.#broken(`${runId}/${step} was called by worker ${workerId}, whose lease is over`)
  }

  #checkForwardCall({ run, steps, stored }: RunDump, workflow: WorkflowDefinition, number: number): void {
    const call = `${run.runId}/${workflow.graph.names[number]} forward`
    for (const dependency of workflow.graph.dependencies[number]!) {
      const { status } = steps[dependency]!
      if (status !== 'completed' && status !== 'skipped')
        this.#broken(`${call} was called while its dependency ${dependency} is ${status}`)
    }
    if (stored?.endsAs !== null) this.#broken(`${call} was called after the undo of its run had begun`)
  }

  #checkUndoCall({ run, steps, stored }: RunDump, workflow: WorkflowDefinition, number: number): void {
    const call = `${run.runId}/${workflow.graph.names[number]} undo`
    if (stored?.endsAs === null) this.#broken(`${call} was called before the run was drained`)
    for (const row of steps) {
      if (['running', 'ready', 'pending', 'waiting'].includes(row.status)) {
        this.#broken(`${call} was called while step ${row.step} is ${row.status}`)
      }
    }
    for (const later of descendants(workflow, number)) {
      const { status } = steps[later]!
      const { compensate } = workflow.record.shape.steps[later]!
      const open = status === 'compensating' || status === 'compensation_failed'
      if (open || (status === 'completed' && compensate !== 'never')) {
        this.#broken(`${call} was called while step ${later}, which came after it, is ${status}`)
      }
    }
  }

  #checkEndOf({ run, steps, stored }: RunDump): void {
    const workflow = this.#workflows.get(run.workflow)!
    const shapes = workflow.record.shape.steps
    for (const step of steps) this.#checkLength(run.runId, step, workflow)
    switch (run.status) {
      case 'completed':
        for (const step of steps) this.#checkCompleted(run.runId, step, workflow)
        return
      case 'failed':
      case 'compensated':
      case 'cancelled':
        for (const step of steps) {
          const begun = stored?.begun?.[step.step] ?? step.startedAt !== null
          this.#checkUndone(run.runId, step, shapes[step.step]!, begun)
        }
        return
      case 'compensation_failed':
        for (const step of steps) this.#checkParked(run.runId, step, steps, workflow)
        return
      default:
        this.#broken(
          `run ${run.runId} is stuck in ${run.status}: ${steps.map(({ status }) => status).join(' ')}`,
        )
    }
  }

  #checkCompleted(runId: string, step: StepRecord, workflow: WorkflowDefinition): void {
    // What an operator skipped has a stand-in.
    if (step.status === 'skipped') return
    const expected = this.#expectedOutput(runId, step, workflow)
    if (step.status !== 'completed')
      this.#broken(`completed run ${runId} has step ${step.step} ${step.status}`)
    if (step.output !== expected)
      this.#broken(`output of ${runId}/${step.step} is ${step.output}, not ${expected}`)
  }

  /** A write is there as often as the outcome that it belongs to: once, unless an operator sent the step on its way again. */
  #checkWritten(): void {
    for (const key of new Set([...this.#written.keys(), ...this.#transacted.keys()])) {
      const [writes, outcomes] = [this.#written.get(key) ?? 0, this.#transacted.get(key) ?? 0]
      if (writes !== outcomes)
        this.#broken(`${key} was written ${writes} times and recorded ${outcomes} times`)
    }
  }

  #expectedOutput(runId: string, { step }: StepRecord, workflow: WorkflowDefinition): string | null {
    const { wait } = workflow.steps[step]!
    switch (wait?.kind) {
      case 'sleep':
        return null
      case 'signal':
      case 'approval': {
        const taken = this.#taken.get(`${runId}/${step}`)
        return taken === undefined ? JSON.stringify(STAND_IN) : taken
      }
      default: {
        const { names, dependencies } = workflow.graph
        const sees = dependencies[step]!.map((number) => names[number]!).sort()
        return JSON.stringify({ step: names[step], sees })
      }
    }
  }

  /** Nothing may end a wait before its time but its signal. */
  #checkLength(
    runId: string,
    { step, status, waitingSince, finishedAt }: StepRecord,
    workflow: WorkflowDefinition,
  ) {
    const { wait, name } = workflow.steps[step]!
    if (wait === null || status !== 'completed' || this.#taken.has(`${runId}/${step}`)) return
    const leastMs =
      wait.kind === 'sleep' ? wait.ms! : wait.kind === 'poll' ? 0 : (wait.timeoutMs ?? Number.NaN)
    const lastedMs = leastMs === 0 ? 0 : finishedAt! - waitingSince!
    if (!(lastedMs >= leastMs)) this.#broken(`${runId}/${name} waited ${lastedMs} ms, not ${leastMs}`)
  }

  #checkUndone(runId: string, step: StepRecord, shape: StepShape, begun: boolean): void {
    const where = `stopped run ${runId}, step ${step.step} (${shape.compensate})`
    const completed = this.#recorded.has(`${runId}/${step.step}/completed`)
    const compensated = this.#recorded.has(`${runId}/${step.step}/compensated`)
    const owed =
      shape.compensate !== 'never' &&
      (completed || (shape.compensate === 'started' && begun && step.status !== 'skipped'))
    if (owed !== (step.status === 'compensated'))
      this.#broken(`${where}: ${step.status}, but owed an undo: ${owed}`)
    if (owed !== compensated) this.#broken(`${where}: undo recorded: ${compensated}, owed: ${owed}`)
    if (['pending', 'ready', 'running', 'waiting', 'compensating'].includes(step.status)) {
      this.#broken(`${where} is still ${step.status}`)
    }
  }

  #checkParked(
    runId: string,
    step: StepRecord,
    steps: readonly StepRecord[],
    workflow: WorkflowDefinition,
  ): void {
    if (step.status !== 'compensating') return
    const blocked = descendants(workflow, step.step).some(
      (later) => steps[later]!.status === 'compensation_failed',
    )
    if (!blocked)
      this.#broken(`parked run ${runId}: step ${step.step} is not undone, and nothing is in its way`)
  }
}

// A connection broke, or somebody decided otherwise or sent something else under the key before.
const EXPECTED_REFUSALS: ReadonlySet<string> = new Set([
  'store_unavailable',
  'store_contended',
  'decision_conflict',
  'key_conflict',
])

function descendants(workflow: WorkflowDefinition, number: number): readonly number[] {
  const found = new Set<number>()
  const open = [number]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const dependent of workflow.graph.dependents[next]!) {
      if (!found.has(dependent)) open.push(dependent)
      found.add(dependent)
    }
  }
  return [...found]
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
