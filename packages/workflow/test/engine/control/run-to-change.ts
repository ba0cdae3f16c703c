import type { RunToChange, StepShape, StepStatus, StoredRun, StoredStep } from '../../../src/adapter/index.ts'

type StepFacts = Partial<StoredStep> & { readonly dependsOn?: readonly number[] }

/** A run as a store shows it to a decision, from what matters in a test: each step's status, edges and what else is said of it. */
export function runToChange(
  run: Partial<StoredRun>,
  facts: Readonly<Record<string, StepStatus | StepFacts>>,
  now = 10_000,
): RunToChange {
  const entries = Object.entries(facts).map(
    ([name, fact]) => [name, typeof fact === 'string' ? { status: fact } : fact] as const,
  )
  const shapes = entries.map(
    ([name, { dependsOn = [] }]): StepShape => ({ name, dependsOn, compensate: 'completed' }),
  )
  const steps = entries.map(([name, { dependsOn: _, ...fact }], step): StoredStep => {
    return { ...IDLE_STEP, ...fact, step, name }
  })
  return { run: { ...RUN, ...run }, steps, shape: { steps: shapes }, now }
}

const RUN: StoredRun = {
  runId: 'run',
  workflow: 'w',
  version: 1,
  definitionId: 1,
  key: null,
  status: 'running',
  cause: null,
  createdAt: 0,
  finishedAt: null,
  startAt: null,
  deadlineAt: null,
  tags: [],
  parent: null,
  openSteps: 1,
  stop: null,
  endsAs: null,
}

const IDLE_STEP: Omit<StoredStep, 'step' | 'name'> = {
  status: 'pending',
  fence: 0,
  round: 1,
  attempts: 0,
  undo: null,
  failures: 0,
  losses: 0,
  openDependencies: 0,
  workerId: null,
  undoOf: null,
  startedAt: null,
  finishedAt: null,
  availableAt: null,
  waitingSince: null,
  signalledAt: null,
  failingSince: null,
  succeeded: false,
  branch: null,
}

/** A run that has ended and was stopped. */
export const FAILED: Partial<StoredRun> = {
  status: 'failed',
  stop: 'failure',
  endsAs: 'failed',
  cause: '{"type":"cancelled"}',
  openSteps: 0,
  finishedAt: 9_000,
}
