import { addStep, define, defineGraph, toMermaid, unchecked } from '@belay/workflow'
import type { Row } from './verdict.ts'
import { hostileWorkflow, type World } from './world.ts'

const RETRY = ['attempts', 'retries', 'backoff', 'initial', 'max', 'jitter', 'for']
const RETRIES = ['retry', ...RETRY.map((name) => `retry.${name}`)]
const STARTS = ['start', 'start.debounce', 'start.throttle', 'start.batch', 'start.key']
const TRANSACTION = ['transaction', 'transaction.isolation']
/** The message about a wrong definition begins with the workflow. */
const where = ['Workflow "w"', 'Workflow name']

const base = () => define('w', { version: 1 }).step('a', { run: () => 1 }) as unknown as Builder

type EndKind = 'onCompleted' | 'onFailed' | 'onCompensated' | 'finally'

/** A builder without the types that keep such values out. */
type Builder = Readonly<
  Record<
    | 'step'
    | 'sleep'
    | 'waitForSignal'
    | 'approval'
    | 'poll'
    | 'map'
    | 'repeat'
    | 'choose'
    | 'workflow'
    | EndKind,
    (...args: unknown[]) => unknown
  >
> & {
  validate(input: unknown): unknown
}

const run = () => 1
const LIMIT = [
  'concurrency',
  'concurrency.limit',
  'concurrency.key',
  'concurrency.name',
  'concurrency.atLimit',
]
const RATE = ['', '.limit', '.per', '.burst', '.key', '.name'].map((option) => `rateLimit${option}`)
const GRAPH = { version: 1, steps: { a: { handler: 'run' } }, dag: {} }

/** The rows of the steps after the end, which differ by name only. */
const END_ROWS = (['onCompleted', 'onFailed', 'onCompensated', 'finally'] as const).map(
  (kind): Row<World> => ({
    name: `workflow.${kind}`,
    call: (_, ...args) => base()[kind](...args),
    args: () => ['b', { run }],
    options: { 1: ['dependsOn', 'onSkipped', 'run', ...TRANSACTION, ...RETRIES, 'timeout', 'lossesMax'] },
    where,
  }),
)

export const DEFINITION_ROWS: readonly Row<World>[] = [
  ...END_ROWS,
  {
    name: 'define',
    call: (_, ...args) => define(...(args as unknown as Parameters<typeof define>)),
    args: () => ['w', { version: 1, concurrency: { limit: 1 }, rateLimit: { limit: 1, per: '1s' } }],
    options: {
      1: ['version', 'input', 'deadline', ...STARTS, ...LIMIT, ...RATE, ...RETRIES, 'timeout', 'lossesMax'],
    },
    where,
  },
  {
    name: 'addStep',
    call: (_, ...args) => addStep(...(args as unknown as Parameters<typeof addStep>)),
    args: () => [base(), 'b', { run }],
    options: { 2: ['dependsOn', 'run'] },
    where: [...where, 'addStep()'],
  },
  {
    name: 'workflow.step',
    call: (_, ...args) => base().step(...args),
    args: () => [
      'b',
      { run, compensate: { run }, concurrency: { limit: 1 }, rateLimit: { limit: 1, per: '1s' } },
    ],
    options: {
      1: [
        ...LIMIT,
        ...RATE,
        'dependsOn',
        'run',
        'compensate',
        'compensate.run',
        'compensate.retry',
        'compensate.timeout',
        'compensate.transaction',
        'compensateOn',
        ...TRANSACTION,
        ...RETRIES,
        'timeout',
        'lossesMax',
      ],
    },
    where,
  },
  {
    name: 'workflow.sleep',
    call: (_, ...args) => base().sleep(...args),
    args: () => ['b', { for: '1s' }],
    options: { 1: ['dependsOn', 'for', 'until'] },
    where,
  },
  {
    name: 'the time of workflow.sleep',
    call: (_, until) => base().sleep('b', { until }),
    args: () => ['2026-01-01'],
    where,
  },
  ...(['waitForSignal', 'approval'] as const).map(
    (kind): Row<World> => ({
      name: `workflow.${kind}`,
      call: (_, ...args) => base()[kind](...args),
      args: () => ['b', { timeout: '1d' }],
      options: { 1: ['dependsOn', 'schema', 'timeout', 'onTimeout'] },
      where,
    }),
  ),
  {
    name: 'workflow.map',
    call: (_, ...args) => base().map(...args),
    args: () => ['b', { over: () => [1], run }],
    options: {
      1: [
        'dependsOn',
        'over',
        'itemKey',
        'concurrency',
        'itemsMax',
        'run',
        'compensate',
        'timeout',
        'lossesMax',
      ],
    },
    where,
  },
  {
    name: 'workflow.repeat',
    call: (_, ...args) => base().repeat(...args),
    args: () => ['b', { run, until: run }],
    options: {
      1: [
        'dependsOn',
        'first',
        'run',
        'until',
        'max',
        'delay',
        'compensate',
        ...RETRIES,
        'timeout',
        'lossesMax',
      ],
    },
    where,
  },
  {
    name: 'workflow.repeat with a child',
    call: (_, ...args) => base().repeat(...args),
    args: () => ['b', 'child', { until: run }],
    options: {
      2: [
        'dependsOn',
        'first',
        'input',
        'key',
        'until',
        'max',
        'delay',
        'detached',
        'compensate',
        'depthMax',
        'when',
        'onSkipped',
        'onFailure',
        ...RETRIES,
        'lossesMax',
      ],
    },
    where,
  },
  {
    name: 'workflow.poll',
    call: (_, ...args) => base().poll(...args),
    args: () => ['b', { every: '1m', until: run }],
    options: { 1: ['dependsOn', 'every', 'until', 'timeout', ...RETRIES, 'lossesMax'] },
    where,
  },
  {
    name: 'workflow.workflow',
    call: (_, ...args) => base().workflow(...args),
    args: () => ['b', 'child', {}],
    options: {
      2: [
        'dependsOn',
        'input',
        'key',
        'detached',
        'compensate',
        'depthMax',
        'when',
        'onSkipped',
        ...RETRIES,
        'lossesMax',
      ],
    },
    where,
  },
  {
    name: 'workflow.workflow with a child for each item',
    call: (_, ...args) => base().workflow(...args),
    args: () => ['b', 'child', { over: () => [1] }],
    options: {
      2: [
        'dependsOn',
        'over',
        'itemKey',
        'concurrency',
        'itemsMax',
        'onFailure',
        'minSuccess',
        'input',
        'key',
        'detached',
        'compensate',
        'depthMax',
        'when',
        'onSkipped',
        ...RETRIES,
        'lossesMax',
      ],
    },
    where,
  },
  {
    name: 'workflow.choose',
    call: (_, ...args) => base().choose(...args),
    args: () => ['b', { on: run, cases: ['x'] }],
    options: { 1: ['dependsOn', 'on', 'cases', 'when', 'onSkipped', ...RETRIES, 'timeout', 'lossesMax'] },
    where,
  },
  { name: 'workflow.validate', call: (_, input) => void base().validate(input), args: () => [1] },
  {
    name: 'workflow.toMermaid',
    call: (_, options) => hostileWorkflow.toMermaid(options),
    args: () => [{}],
    options: { 0: ['statuses', 'statuses.work', 'direction'] },
  },
  {
    name: 'defineGraph',
    call: (_, ...args) => defineGraph(...(args as unknown as Parameters<typeof defineGraph>)),
    args: () => ['w', GRAPH, { run }],
    options: {
      1: [
        'version',
        'input',
        'deadline',
        'steps',
        'dag',
        'dag.a',
        ...RETRY,
        'timeout',
        'lossesMax',
        'steps.a',
        ...[
          'handler',
          'compensate',
          'compensate.handler',
          'compensateOn',
          ...TRANSACTION,
          ...RETRY,
          'timeout',
        ].map((name) => `steps.a.${name}`),
        'steps.b.sleep',
        'steps.b.sleepUntil',
        'steps.b.signal',
        'steps.b.approval',
        'steps.b.poll',
        'steps.b.workflow',
      ],
      2: ['run'],
    },
    where,
  },
  {
    name: 'a signal of defineGraph',
    call: (_, step) => defineGraph('w', { steps: { a: step }, dag: {} }),
    args: () => [{ signal: true, timeout: '1d' }],
    options: { 0: ['schema', 'timeout', 'onTimeout'] },
    where,
  },
  {
    name: 'a loop of defineGraph',
    call: (_, step) => defineGraph('w', { steps: { a: step }, dag: {} }, { run }),
    args: () => [{ repeat: 'run', until: 'run' }],
    options: { 0: ['until', 'first', 'roundsMax', 'delay', 'timeout', 'lossesMax', ...RETRY] },
    where,
  },
  {
    name: 'a poll of defineGraph',
    call: (_, step) => defineGraph('w', { steps: { a: step }, dag: {} }, { run }),
    args: () => [{ poll: 'run', every: '1m' }],
    options: { 0: ['every', 'timeout', 'lossesMax', ...RETRY] },
    where,
  },
  {
    name: 'toMermaid',
    call: (_, ...args) => toMermaid(...(args as unknown as Parameters<typeof toMermaid>)),
    args: () => [hostileWorkflow, {}],
    options: { 0: ['record', 'record.shape', 'record.shape.steps'], 1: ['statuses', 'direction'] },
  },
  { name: 'unchecked', call: () => unchecked(), args: () => [] },
]
