import type { Engine, RunHandle, WorkflowDefinition } from '@belay/workflow'
import type { StepRecord } from '@belay/workflow/adapter'
import type { Dump, RunDump } from '../invariants/index.ts'
import type { Random } from './random.ts'

/** An action from outside, with a name that a report can count. */
export interface Operation {
  readonly name: string
  readonly runId?: string
  /** The workflow of that run, for the report. */
  readonly workflow?: string
  /** Whether a step of another run has started it. */
  readonly isChild?: boolean
  readonly act: (parts: {
    readonly engine: Engine
    readonly workflows: readonly WorkflowDefinition[]
  }) => Promise<unknown>
}

type Act = (run: RunHandle, parts: Parameters<Operation['act']>[0]) => Promise<unknown>
type Fitting = readonly [name: string, act: Act]

const BY = { by: 'operator', reason: 'chance' }

/** An operator's action that fits some run's status; undefined if chance picks none. */
export function operationOn({ runs }: Dump, random: Random): Operation | undefined {
  if (runs.length === 0) return undefined
  // Operators look after runs that do not go on by themselves.
  const needy = runs.filter(({ run }) => NEED_HELP.has(run.status))
  const found = random.pick(needy.length > 0 && random.chance(0.4) ? needy : runs)
  const { runId, workflow, parent } = found.run
  const isChild = parent !== null && parent.step !== null
  const fitting = random.chance(0.1) ? reading(random) : fittingOperation(found, random)
  if (fitting === undefined) return undefined
  const [name, act] = fitting
  return { name, runId, workflow, isChild, act: (parts) => act(parts.engine.runs.handle(runId), parts) }
}

const NEED_HELP: ReadonlySet<string> = new Set(['failed', 'compensated', 'compensation_failed', 'parked'])

function reading(random: Random): Fitting {
  return random.pick<Fitting>([
    ['history', (run) => run.history()],
    ['explain', (run) => run.explain()],
    ['status', (run) => run.status()],
    ['attempts', (run, { engine }) => engine.runs.attempts(run)],
    ['values', (run) => run.values()],
    ['watch', untilOver],
    ['step', async (run) => run.step((await run.status()).steps[0]!.name).catch(() => {})],
  ])
}

/** Watches the run until it is over, or the world ends; then takes its result. */
async function untilOver(run: RunHandle): Promise<void> {
  for await (const _ of run.watch());
  await run.result().catch(() => {})
}

function fittingOperation(found: RunDump, random: Random): Fitting | undefined {
  const { run, steps } = found
  const stepIn = (...statuses: readonly StepRecord['status'][]) => {
    const fitting = steps.filter(({ status }) => statuses.includes(status))
    return fitting.length === 0 ? undefined : random.pick(fitting).name
  }
  switch (run.status) {
    case 'scheduled':
    case 'running':
    case 'waiting':
      return forward(stepIn('ready', 'waiting'), random)
    case 'parked':
      return afterPivot(stepIn('failed')!, stepIn('ready', 'waiting'), random)
    case 'paused':
      return random.chance(0.7) ? ['resume', (handle) => handle.resume(BY)] : migration(random)
    case 'failed':
    case 'compensated':
    case 'cancelled':
      return ended(stepIn('failed', 'cancelled', 'compensated'), random)
    case 'compensating':
      return compensating(stepIn('running', 'compensating'), stepIn('compensating'), random)
    case 'compensation_failed':
      return parked(stepIn('compensation_failed')!, random)
    default:
      return undefined
  }
}

function forward(step: string | undefined, random: Random): Fitting {
  if (random.chance(0.3)) return migration(random)
  if (random.chance(0.1)) return ['cancel', (handle) => handle.cancel(BY)]
  if (random.chance(0.1)) {
    return ['cancel without an undo', (handle) => handle.cancel({ ...BY, compensate: false })]
  }
  if (step === undefined || random.chance(0.5)) {
    // Without a draw: the name decides.
    const raises = step !== undefined && step.length % 3 === 0
    if (raises) return ['setPriority', (handle) => handle.setPriority(step.length, BY)]
    return ['pause', (handle) => handle.pause(BY)]
  }
  if (random.chance(0.5)) return ['retryStep', (handle) => handle.retryStep(step, BY)]
  return ['skipStep', (handle) => handle.skipStep(step, { ...BY, output: 'stand-in' })]
}

function afterPivot(failed: string, other: string | undefined, random: Random): Fitting {
  if (random.chance(0.3)) return forward(other, random)
  if (random.chance(0.3)) return ['retry', (handle) => handle.retry(BY)]
  if (random.chance(0.6)) return ['retryStep', (handle) => handle.retryStep(failed, BY)]
  return ['skipStep', (handle) => handle.skipStep(failed, { ...BY, output: 'stand-in' })]
}

function ended(step: string | undefined, random: Random): Fitting {
  if (random.chance(0.3)) return migration(random)
  if (step !== undefined && random.chance(0.2)) return ['retryStep', (handle) => handle.retryStep(step, BY)]
  if (step !== undefined && random.chance(0.2)) return ['skipStep', (handle) => handle.skipStep(step, BY)]
  return ['retry', (handle) => handle.retry(BY)]
}

function compensating(
  step: string | undefined,
  undone: string | undefined,
  random: Random,
): Fitting | undefined {
  if (undone !== undefined && random.chance(0.5)) return parked(undone, random)
  if (step === undefined || random.chance(0.5)) return ['pause', (handle) => handle.pause(BY)]
  return ['giveUpStep', (handle) => handle.giveUpStep(step, { by: 'operator', reason: 'it hangs' })]
}

function parked(step: string, random: Random): Fitting {
  return random.chance(0.6)
    ? ['retryCompensation', (handle) => handle.retryCompensation(step, BY)]
    : ['skipCompensation', (handle) => handle.skipCompensation(step, BY)]
}

/** To either version. A move to its own version changes nothing. */
function migration(random: Random): Fitting {
  const version = random.integer(1, 2)
  return [
    'migrateRun',
    async (run, { engine, workflows }) => {
      const { workflow } = await run.status()
      const target = workflows.find((found) => found.name === workflow && found.version === version)
      return engine.migrateRun(run, target!, BY)
    },
  ]
}

/** The workflows of which clients start runs. Follow-ups are left, with their keys, so that the oracle can count them. */
const STARTED = ['w0', 'w1']

/** An action on many runs at once, or one that only reads. */
export function upkeep(random: Random): Operation {
  const status = random.pick(['failed', 'compensated', 'cancelled', 'completed'] as const)
  return random.pick<Operation>([
    {
      name: 'prune',
      act: ({ engine }) => engine.prune({ olderThan: '1s', statuses: [status], workflow: STARTED }),
    },
    {
      name: 'releaseKeys',
      act: ({ engine }) => engine.runs.releaseKeys({ olderThan: '500ms', workflow: STARTED }),
    },
    { name: 'list runs', act: ({ engine }) => engine.runs.list({ status, limit: 10 }) },
    { name: 'count runs', act: ({ engine }) => engine.runs.count({ status }) },
    { name: 'queue', act: ({ engine }) => engine.queue() },
    { name: 'list approvals', act: ({ engine }) => engine.approvals.pending() },
    { name: 'doctor', act: ({ engine }) => engine.doctor() },
    {
      name: 'list workers',
      act: async ({ engine }) => {
        for (const { id } of await engine.workers.list()) await engine.workers.holds(id)
      },
    },
    {
      name: 'list workflows',
      act: async ({ engine }) => {
        for (const { name } of await engine.workflows.list()) await engine.workflows.get(name)
      },
    },
    {
      name: 'pauseMany',
      act: ({ engine }) => engine.runs.pauseMany({ workflow: 'w0' }, { ...BY, limit: 1 }),
    },
    {
      name: 'retryMany',
      // Parents and their children together.
      act: ({ engine }) => engine.runs.retryMany({ status: ['failed', 'compensated'] }, { ...BY, limit: 6 }),
    },
    {
      name: 'resumeMany',
      act: ({ engine }) => engine.runs.resumeMany({ all: true }, { ...BY, limit: 6 }),
    },
    {
      name: 'cancelMany without an undo',
      act: ({ engine }) => engine.runs.cancelMany({ all: true }, { ...BY, limit: 2, compensate: false }),
    },
  ])
}
