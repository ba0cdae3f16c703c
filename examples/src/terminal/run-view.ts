import type { EngineEvents, RunSnapshot, WorkflowDefinition } from '@belay/workflow'

/** A step's state, in a reader's words. */
export type StepState =
  | 'waiting'
  | 'running'
  // Held by a worker that died, until its lease ends.
  | 'orphaned'
  | 'retrying'
  | 'done'
  | 'failed'
  | 'not done'
  | 'to undo'
  | 'undoing'
  | 'undone'
  | 'undo failed'

export interface StepView {
  readonly name: string
  readonly dependsOn: readonly string[]
  readonly state: StepState
  /** The number of attempts, forward or, in an undo, of the undo. */
  readonly attempt: number
  /** The duration of the newest attempt that ended. */
  readonly durationMs: number | undefined
  readonly error: string | undefined
  /** The worker that holds the step or ended its newest attempt, where several are shown. */
  readonly worker?: string
}

export interface RunView {
  readonly status: RunSnapshot['status']
  readonly steps: readonly StepView[]
}

/** Whether a run is being undone, or was. */
export function isBackwards({ status }: RunView): boolean {
  return status !== 'running' && status !== 'completed'
}

/** An event of a run, as the engine emitted it. */
export type Happening = {
  [Name in keyof EngineEvents]: {
    readonly name: Name
    readonly event: EngineEvents[Name]
    readonly atMs: number
  }
}[keyof EngineEvents]

/** The view of a run as read from the store. */
export function viewOf(workflow: WorkflowDefinition, snapshot: RunSnapshot): RunView {
  return {
    status: snapshot.status,
    // The items of maps follow the steps. A view shows steps only.
    steps: snapshot.steps.slice(0, workflow.steps.length).map((step, number) => {
      // For a step that is undone, the undo is the newest to show.
      const { attempts, startedAt, finishedAt, error } = step.undo ?? step
      return {
        name: step.name,
        dependsOn: workflow.steps[number]!.dependsOn,
        state: STATES[step.status],
        attempt: attempts,
        durationMs: startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : undefined,
        error: error?.message,
      }
    }),
  }
}

const STATES: Readonly<Record<RunSnapshot['steps'][number]['status'], StepState>> = {
  pending: 'waiting',
  ready: 'waiting',
  waiting: 'waiting',
  running: 'running',
  completed: 'done',
  failed: 'failed',
  skipped: 'not done',
  cancelled: 'not done',
  compensating: 'to undo',
  compensated: 'undone',
  compensation_failed: 'undo failed',
}

/** The view after the store was read again. Other processes may have made attempts that this one did not see. */
export function viewRefreshed(view: RunView, stored: RunView): RunView {
  const steps = stored.steps.map((step, number) => {
    const seen = view.steps[number]!
    return {
      ...step,
      attempt: Math.max(step.attempt, seen.attempt),
      durationMs: step.durationMs ?? seen.durationMs,
    }
  })
  return { ...stored, steps }
}

/** The view after an event: a pure function. */
export function viewAfter(view: RunView, { name, event }: Happening): RunView {
  switch (name) {
    case 'run.compensating':
      return { status: event.status, steps: view.steps.map(stopped) }
    case 'run.completed':
    case 'run.failed':
    case 'run.compensated':
    case 'run.cancelled':
    case 'run.compensation_failed':
      return { ...view, status: event.status }
    case 'step.started':
      return change(view, event.step, {
        state: event.direction === 'undo' ? 'undoing' : 'running',
        attempt: event.attempt,
        durationMs: undefined,
      })
    case 'step.completed':
      return change(view, event.step, { state: 'done', durationMs: event.durationMs, error: undefined })
    case 'step.compensated':
      return change(view, event.step, { state: 'undone', durationMs: event.durationMs })
    case 'step.retrying':
      return isBackwards(view) && event.direction === 'forward'
        ? change(view, event.step, { state: 'not done' })
        : change(view, event.step, { state: 'retrying', error: event.error.message })
    case 'step.failed':
      return change(view, event.step, { state: 'failed', error: event.error.message })
    case 'step.compensation_failed':
      return change(view, event.step, { state: 'undo failed', error: event.error.message })
    case 'step.released':
      return change(view, event.step, { state: 'waiting' })
    default:
      return view
  }
}

function change(view: RunView, name: string, changes: Partial<StepView>): RunView {
  return { ...view, steps: view.steps.map((step) => (step.name === name ? { ...step, ...changes } : step)) }
}

function stopped(step: StepView): StepView {
  return step.state === 'waiting' || step.state === 'retrying' ? { ...step, state: 'not done' } : step
}
