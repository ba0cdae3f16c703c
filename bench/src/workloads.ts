import { setTimeout as delay } from 'node:timers/promises'
import {
  type Duration,
  define,
  PermanentError,
  unchecked,
  type Workflow,
  type WorkflowDefinition,
} from '@belay/workflow'
import { sleeper } from './worker/patience.ts'
import { liner, taker } from './worker/turns.ts'

/** Graphs with one output type, so that steps can be added in a loop. */
type Loose = Workflow<string, unknown, Readonly<Record<string, unknown>>>

export interface Workload {
  readonly name: string
  /** What is counted. */
  readonly what: 'steps' | 'steps and undos'
  readonly workflow: WorkflowDefinition
  readonly runs: number
  /** How many steps one run executes, and undoes. */
  readonly stepsPerRun: number
  /** The event that reports the end of a run. */
  readonly ends: 'run.completed' | 'run.compensated'
  /** Handlers running at once in one worker. */
  readonly concurrency: number
  /** The input of the run with this number, from 0. Default: an empty object. */
  readonly inputOf?: (number: number) => unknown
}

const CONCURRENCY = 1_000

const chain = define('chain', { version: 1 })
  .step('a', { run: () => 1 })
  .step('b', { dependsOn: ['a'], run: () => 2 })
  .step('c', { dependsOn: ['b'], run: () => 3 })

const KEYS = 500

type Limit =
  | {
      readonly concurrency: {
        readonly limit: number
        readonly key?: (context: { readonly input: number }) => string
      }
    }
  | { readonly rateLimit: { readonly limit: number; readonly per: Duration } }

/** A chain with a limit on each step that is never reached. */
function limited(name: string, limit: Limit): WorkflowDefinition {
  return define(name, { version: 1, input: unchecked<number>() })
    .step('a', { ...limit, run: () => 1 })
    .step('b', { ...limit, dependsOn: ['a'], run: () => 2 })
    .step('c', { ...limit, dependsOn: ['b'], run: () => 3 })
}

const WORK_MS = 2
const OUTPUT_CHARACTERS = 4_000

const realistic = define('realistic', { version: 1 })
  .step('a', { run: work })
  .step('b', { dependsOn: ['a'], run: work })
  .step('c', { dependsOn: ['b'], run: work })

/** Like a call to another service: some waiting, and an answer to store. */
async function work(): Promise<{ readonly answer: string }> {
  await delay(WORK_MS)
  return { answer: randomText(OUTPUT_CHARACTERS) }
}

// Text that hardly compresses. Made once, because making it must not be measured.
const TEXT = Array.from({ length: 20_000 }, () => Math.random().toString(36).slice(2, 12)).join('')

function randomText(characters: number): string {
  const from = Math.floor(Math.random() * (TEXT.length - characters))
  return TEXT.slice(from, from + characters)
}

function fan(width: number): Loose {
  let workflow: Loose = define(`fan-${width}`, { version: 1 })
  workflow = workflow.step('first', { run: () => 1 })
  const middle = Array.from({ length: width }, (_, n) => `m${n}`)
  for (const name of middle) workflow = workflow.step(name, { dependsOn: ['first'], run: () => 2 })
  return workflow.step('last', { dependsOn: middle, run: () => 3 })
}

function map(items: number): WorkflowDefinition {
  return define(`map-${items}`, { version: 1 })
    .step('first', { run: () => 1 })
    .map('each', { dependsOn: ['first'], over: () => Array.from({ length: items }, () => 1), run: () => 2 })
    .step('last', { dependsOn: ['each'], run: () => 3 })
}

function loop(rounds: number): WorkflowDefinition {
  return define(`loop-${rounds}`, { version: 1 }).repeat('count', {
    run: ({ round }) => round,
    until: ({ output }) => output === rounds,
  })
}

/** A parent whose last step fails, if it is to be undone: then every step of every child is. */
function children(count: number, width: number, isUndone: boolean): WorkflowDefinition {
  let child: Loose = define(`child-${width}${isUndone ? '-undone' : ''}`, { version: 1 })
  for (let n = 0; n < width; n += 1) {
    const compensate = isUndone ? { compensate: () => {} } : {}
    child = child.step(`s${n}`, { ...compensate, run: () => n })
  }
  const parent = define(`children-${count}${isUndone ? '-undone' : ''}`, { version: 1 }).workflow(
    'each',
    child as Workflow<string, number, Readonly<Record<string, unknown>>>,
    { over: () => Array.from({ length: count }, (_, n) => n) },
  )
  if (!isUndone) return parent
  return parent.step('last', {
    dependsOn: ['each'],
    run: () => {
      throw new PermanentError('always')
    },
  })
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

const forward = { what: 'steps', ends: 'run.completed', concurrency: CONCURRENCY } as const

export const WORKLOADS = {
  chain: { ...forward, name: 'chain of 3', workflow: chain, runs: 20_000, stepsPerRun: 3 },
  limitedChain: {
    ...forward,
    name: 'chain of 3, each step with a limit',
    workflow: limited('limited-chain', { concurrency: { limit: 10_000 } }),
    runs: 10_000,
    stepsPerRun: 3,
    inputOf: (number) => number,
  },
  keyedChain: {
    ...forward,
    name: `chain of 3, each step with a limit for each of ${KEYS} keys`,
    workflow: limited('keyed-chain', {
      concurrency: { limit: 100, key: ({ input }) => String(input % KEYS) },
    }),
    runs: 10_000,
    stepsPerRun: 3,
    inputOf: (number) => number,
  },
  ratedChain: {
    ...forward,
    name: 'chain of 3, each step with a rate',
    workflow: limited('rated-chain', { rateLimit: { limit: 100_000, per: '1s' } }),
    runs: 10_000,
    stepsPerRun: 3,
    inputOf: (number) => number,
  },
  turns: { ...forward, name: 'runs that take turns', workflow: taker, runs: 500, stepsPerRun: 1 },
  line: { ...forward, name: 'runs in line', workflow: liner, runs: 1, stepsPerRun: 1 },
  fan50: { ...forward, name: '1 → 50 → 1', workflow: fan(50), runs: 1_000, stepsPerRun: 52 },
  fan1000: { ...forward, name: '1 → 1,000 → 1', workflow: fan(1_000), runs: 40, stepsPerRun: 1_002 },
  // Counts the items, the map's two steps and those around it.
  map10000: { ...forward, name: 'map of 10,000 items', workflow: map(10_000), runs: 10, stepsPerRun: 10_004 },
  // Counts the rounds and the loop's two steps.
  loop1000: {
    ...forward,
    name: 'loop of 1,000 rounds',
    workflow: loop(1_000),
    runs: 20,
    stepsPerRun: 1_002,
  },
  // Counts the steps of the children, the items, the fan's two steps, and the one that fails; of an undo also what is undone.
  children1000: {
    ...forward,
    name: '1,000 children of 100 steps',
    workflow: children(1_000, 100, false),
    runs: 1,
    stepsPerRun: 101_002,
  },
  undone1000: {
    name: '1,000 children of 100 steps, undone',
    what: 'steps and undos',
    workflow: children(1_000, 100, true),
    runs: 1,
    stepsPerRun: 202_003,
    ends: 'run.compensated',
    concurrency: CONCURRENCY,
  },
  saga: {
    name: 'saga: chain of 5 whose last fails',
    what: 'steps and undos',
    workflow: saga(),
    runs: 5_000,
    stepsPerRun: 9,
    ends: 'run.compensated',
    concurrency: CONCURRENCY,
  },
  patient: { ...forward, name: 'runs that wait', workflow: sleeper, runs: 1, stepsPerRun: 1 },
  realistic: {
    ...forward,
    name: `chain of 3: ${WORK_MS} ms, ${OUTPUT_CHARACTERS / 1_000} KB, 200 at once`,
    workflow: realistic,
    runs: 5_000,
    stepsPerRun: 3,
    concurrency: 200,
  },
} satisfies Readonly<Record<string, Workload>>

export type WorkloadName = keyof typeof WORKLOADS

/** How many runs of a workload are made. A quick look makes a tenth. */
export function runsOf(workload: WorkloadName, { quick }: { quick: boolean }): number {
  const { runs } = WORKLOADS[workload]
  return quick ? Math.ceil(runs / 10) : runs
}
