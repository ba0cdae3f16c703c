import { define, PermanentError, type Workflow, type WorkflowDefinition } from '@belay/workflow'

/** Graphs of one output type, so that steps can be added in a loop. */
type Loose = Workflow<string, unknown, Readonly<Record<string, unknown>>>

export interface Workload {
  readonly name: string
  /** What is counted. */
  readonly what: 'steps' | 'steps and undos'
  readonly workflow: WorkflowDefinition
  readonly runs: number
  /** Steps run, and undone, in one run. */
  readonly stepsPerRun: number
  /** The event that tells that a run has ended. */
  readonly ends: 'run.completed' | 'run.compensated'
}

export const chain = define('chain', { version: 1 })
  .step('a', { run: () => 1 })
  .step('b', { dependsOn: ['a'], run: () => 2 })
  .step('c', { dependsOn: ['b'], run: () => 3 })

function fan(width: number): Loose {
  let workflow: Loose = define('fan', { version: 1 })
  workflow = workflow.step('first', { run: () => 1 })
  const middle = Array.from({ length: width }, (_, n) => `m${n}`)
  for (const name of middle) workflow = workflow.step(name, { dependsOn: ['first'], run: () => 2 })
  return workflow.step('last', { dependsOn: middle, run: () => 3 })
}

function saga(): Loose {
  let workflow: Loose = define('saga', { version: 1 })
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const [n, name] of names.entries()) {
    workflow = workflow.step(name, {
      dependsOn: names.slice(Math.max(0, n - 1), n),
      run: () => {
        if (name === 'e') throw new PermanentError('always')
        return n
      },
      compensate: () => {},
    })
  }
  return workflow
}

export const WORKLOADS: readonly Workload[] = [
  { name: 'chain of 3', what: 'steps', workflow: chain, runs: 10_000, stepsPerRun: 3, ends: 'run.completed' },
  { name: '1 → 50 → 1', what: 'steps', workflow: fan(50), runs: 600, stepsPerRun: 52, ends: 'run.completed' },
  {
    name: 'saga: chain of 5 whose last fails',
    what: 'steps and undos',
    workflow: saga(),
    runs: 3_000,
    stepsPerRun: 9,
    ends: 'run.compensated',
  },
]
