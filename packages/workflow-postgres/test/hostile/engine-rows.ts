import { memory } from '@belay/testing'
import { createEngine, type RunOptions } from '@belay/workflow'
import type { Row } from './verdict.ts'
import { collectingWorkflow, hostileWorkflow, nextWorkflow, type World } from './world.ts'

const ACTION = ['by', 'reason']
const TIMES = ['key', 'tags', 'startAt', 'delay', 'deadline', 'traceparent']
const BULK = [...ACTION, 'dryRun', 'limit', 'signal', 'onProgress']
const FILTER = [
  'workflow',
  'status',
  'key',
  'tags',
  'waitingFor',
  'createdAfter',
  'createdBefore',
  'finishedAfter',
  'finishedBefore',
]

const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** The message about a wrong payload or input names it. */
const INPUT = ['Input of workflow "hostile"']

/** Every method of an engine that reads or writes the store. They are called on each store. */
export const ENGINE_ROWS: readonly Row<World>[] = [
  {
    name: 'engine.run',
    call: ({ engine }, ...args) => engine.run(...(args as unknown as Parameters<typeof engine.run>)),
    args: () => [hostileWorkflow, { a: 1 }, {}],
    options: { 2: [...TIMES, 'tx'] },
    where: ['run()', 'Run', ...INPUT, 'The tx given to'],
  },
  {
    name: 'engine.runMany',
    call: ({ engine }, ...args) => engine.runMany(...(args as unknown as Parameters<typeof engine.runMany>)),
    args: () => [hostileWorkflow, [{ input: 1 }], {}],
    options: { 2: ['tx'] },
    where: ['runMany()', 'Run', ...INPUT, 'The tx given to'],
  },
  {
    name: 'engine.run of a workflow that collects its starts',
    call: ({ engine }, input, options) => engine.run(collectingWorkflow, input, options as RunOptions),
    args: () => [{ key: 'k' }, {}],
    options: { 0: ['key'], 1: [...TIMES, 'tx'] },
    where: ['run()', 'Run', 'start.key of', 'Input of workflow "collecting"', 'The tx given to', 'Key '],
  },
  {
    name: 'one run of engine.runMany',
    call: ({ engine }, run) => engine.runMany(hostileWorkflow, [run]),
    args: () => [{ input: 1 }],
    options: { 0: ['input', ...TIMES] },
    where: ['runMany(): run 0', 'Key ', ...INPUT],
  },
  {
    name: 'engine.prune',
    call: ({ engine }, options) => engine.prune(options),
    args: () => [{ olderThan: '1d' }],
    options: {
      0: [
        ...['olderThan', 'statuses', 'workflow', 'tags', 'limit', 'batch', 'archive', 'dryRun', 'signal'],
        'onProgress',
      ],
    },
  },
  {
    name: 'engine.doctor',
    call: ({ engine }, options) => engine.doctor(options),
    args: () => [{}],
    options: { 0: ['pausedFor', 'overdueFor', 'recent', 'failureRate'] },
  },
  {
    name: 'engine.migrateRun',
    call: ({ engine }, ...args) =>
      engine.migrateRun(...(args as unknown as Parameters<typeof engine.migrateRun>)),
    args: ({ run }) => [run.id, nextWorkflow, {}],
    options: { 2: ACTION },
    where: ['migrateRun()', 'There is no run'],
  },
  {
    name: 'the run of engine.signal',
    call: ({ engine }, target) => engine.signal(target, 'paid' as never, 1 as never),
    args: () => [{ workflow: 'hostile', key: 'k' }],
    options: { 0: ['workflow', 'key'] },
    where: ['signal()', 'There is no run'],
  },
  {
    name: 'limits.set',
    call: ({ engine }, ...args) => engine.limits.set(...(args as unknown as [string, number])),
    args: () => ['hostile', 5],
    options: { 1: ['concurrency', 'rateLimit', 'rateLimit.limit', 'rateLimit.per', 'rateLimit.burst'] },
  },
  {
    name: 'limits.reset',
    call: ({ engine }, name) => engine.limits.reset(name as never),
    args: () => ['hostile'],
  },
  {
    name: 'limits.get',
    call: ({ engine }, name) => engine.limits.get(name as never),
    args: () => ['hostile'],
  },
  {
    name: 'limits.lines',
    call: ({ engine }, name, options) => engine.limits.lines(name as never, options as never),
    args: () => ['hostile', {}],
    options: { 1: ['limit'] },
  },
  { name: 'limits.list', call: ({ engine }) => engine.limits.list(), args: () => [] },
  {
    name: 'approvals.pending',
    call: ({ engine }, filter) => engine.approvals.pending(filter),
    args: () => [{}],
    options: { 0: ['workflow', 'step', 'before', 'before.runId', 'before.step', 'limit'] },
  },
  {
    name: 'signals.pending',
    call: ({ engine }, filter) => engine.signals.pending(filter),
    args: () => [{}],
    options: { 0: ['workflow', 'step', 'before', 'before.runId', 'before.step', 'limit'] },
  },
  { name: 'engine.gauges', call: ({ engine }) => engine.gauges(), args: () => [] },
  { name: 'engine.queue', call: ({ engine }) => engine.queue(), args: () => [] },
  { name: 'workflows.list', call: ({ engine }) => engine.workflows.list(), args: () => [] },
  {
    name: 'workflows.get',
    call: ({ engine }, ...args) => engine.workflows.get(...(args as unknown as [string, number])),
    args: () => ['hostile', 1],
  },
  {
    name: 'runs.export',
    call: async ({ engine }, filter) => {
      for await (const run of engine.runs.export(filter)) if (run.id === '') throw new Error('It has no id.')
    },
    args: () => [{ workflow: 'nothing' }],
    options: { 0: [...FILTER, 'payloads', 'limit'] },
  },
  { name: 'runs.get', call: ({ engine }, run) => engine.runs.get(run), args: ({ run }) => [run.id] },
  {
    name: 'runs.handle',
    call: ({ engine }, ...args) => void engine.runs.handle(...(args as unknown as ['hostile', string])),
    args: ({ run }) => [hostileWorkflow, run.id],
  },
  {
    name: 'the key of runs.handle',
    call: ({ engine }, run) => void engine.runs.handle('hostile', run),
    args: () => [{ key: 'k' }],
    options: { 0: ['key'] },
    where: ['runs.handle()'],
  },
  {
    name: 'runs.list',
    call: ({ engine }, filter) => engine.runs.list(filter),
    args: () => [{}],
    options: { 0: [...FILTER, 'before', 'limit'] },
  },
  ...(['count', 'countByStatus'] as const).map(
    (verb): Row<World> => ({
      name: `runs.${verb}`,
      call: ({ engine }, filter) => engine.runs[verb](filter),
      args: () => [{}],
      options: { 0: [...FILTER, 'max'] },
    }),
  ),
  {
    name: 'runs.history',
    call: ({ engine }, ...args) => engine.runs.history(...(args as unknown as [string])),
    args: ({ run }) => [run.id, {}],
    options: { 1: ['limit'] },
    where: ['history()', 'There is no run'],
  },
  ...(['cancelMany', 'pauseMany', 'resumeMany', 'retryMany'] as const).map(
    (verb): Row<World> => ({
      name: `runs.${verb}`,
      call: ({ engine }, ...args) =>
        engine.runs[verb](...(args as unknown as Parameters<typeof engine.runs.cancelMany>)),
      args: () => [{ workflow: 'nothing' }, {}],
      options: { 0: [...FILTER, 'all'], 1: [...BULK, ...(verb === 'cancelMany' ? ['compensate'] : [])] },
    }),
  ),
  {
    name: 'runs.setPriority',
    call: ({ engine }, ...args) =>
      engine.runs.setPriority(...(args as unknown as Parameters<typeof engine.runs.setPriority>)),
    args: ({ run }) => [run.id, 5, {}],
    options: { 2: [...ACTION, 'tx'] },
    where: ['setPriority()', 'There is no run', 'Run ', 'The tx given to'],
  },
  {
    name: 'runs.setPriorityMany',
    call: ({ engine }, ...args) =>
      engine.runs.setPriorityMany(...(args as unknown as Parameters<typeof engine.runs.setPriorityMany>)),
    args: () => [{ workflow: 'nothing' }, 5, {}],
    options: { 0: [...FILTER, 'all'], 2: BULK },
  },
  {
    name: 'runs.migrateMany',
    call: ({ engine }, ...args) =>
      engine.runs.migrateMany(...(args as unknown as Parameters<typeof engine.runs.migrateMany>)),
    args: () => [{ workflow: 'nothing' }, nextWorkflow, {}],
    options: { 0: [...FILTER, 'all'], 2: BULK },
  },
  ...(['retryCompensationMany', 'skipCompensationMany'] as const).map(
    (verb): Row<World> => ({
      name: `runs.${verb}`,
      call: ({ engine }, ...args) =>
        engine.runs[verb](...(args as unknown as Parameters<typeof engine.runs.retryCompensationMany>)),
      args: () => [{ workflow: 'nothing' }, 'work', {}],
      options: { 0: [...FILTER, 'all'], 2: BULK },
    }),
  ),
  {
    name: 'runs.attempts',
    call: ({ engine }, ...args) => engine.runs.attempts(...(args as unknown as [string])),
    args: ({ run }) => [run.id, {}],
    options: { 1: ['limit'] },
    where: ['attempts()', 'There is no run'],
  },
  {
    name: 'runs.dropForgotten',
    call: ({ adapter }, options) => createEngine({ adapter, dev: true, logger }).runs.dropForgotten(options),
    args: () => [{ workflow: 'nothing', dryRun: true }],
    options: { 0: ['workflow', ...BULK] },
  },
  {
    name: 'runs.releaseKeys',
    call: ({ engine }, options) => engine.runs.releaseKeys(options),
    args: () => [{ olderThan: '1d' }],
    options: { 0: ['olderThan', 'workflow', 'tags', 'limit'] },
  },
  {
    name: 'workers.list',
    call: ({ engine }, options) => engine.workers.list(options),
    args: () => [{}],
    options: { 0: ['limit'] },
  },
  {
    name: 'workers.holds',
    call: ({ engine }, ...args) => engine.workers.holds(...(args as unknown as [string])),
    args: ({ workerId }) => [workerId, {}],
    options: { 1: ['limit'] },
  },
]

const engineOf = () => createEngine({ adapter: memory() })

/** What an engine does without the store, and what ends it. */
export const ENGINE_LIFE_ROWS: readonly Row<World>[] = [
  {
    name: 'createEngine',
    call: (_, options) => createEngine(options),
    args: ({ adapter }) => [{ adapter }],
    options: {
      0: [
        'adapter',
        'workflows',
        'dev',
        'concurrency',
        'tick',
        'lease',
        'payloadMaxBytes',
        'valuesMax',
        'valueMaxBytes',
        'name',
        'host',
        'retention',
        ...['completed', 'failed', 'compensated', 'cancelled', 'keys', 'every', 'batch', 'archive'].map(
          (name) => `retention.${name}`,
        ),
        'attempts',
        'around',
        'traceparent',
        'logger',
        'clock',
        'random',
        'newId',
      ],
    },
  },
  {
    name: 'engine.on',
    call: ({ engine }, ...args) => engine.on(...(args as unknown as Parameters<typeof engine.on>)),
    args: () => ['error', () => {}],
  },
  {
    name: 'engine.stop',
    call: (_, options) => engineOf().stop(options),
    args: () => [{}],
    options: { 0: ['timeout'] },
  },
  {
    name: 'engine.close',
    call: (_, options) => engineOf().close(options),
    args: () => [{}],
    options: { 0: ['timeout'] },
  },
  {
    name: 'engine.start',
    call: async () => {
      const engine = engineOf()
      await engine.start()
      await engine.stop({ timeout: 0 })
    },
    args: () => [],
  },
  ...(['handle', 'keyed', 'engine'] as const).map(
    (of): Row<World> => ({
      name: `${of}.result`,
      call: ({ engine, run, keyed }, options) => {
        const limited = impatient(options)
        if (of === 'engine') return engine.result(run, limited)
        return (of === 'handle' ? run : keyed).result(limited)
      },
      args: () => [{ timeout: 1 }],
      options: { 0: ['timeout', 'signal'] },
      where: ['result()', 'the wait for the result', 'The wait for the result'],
    }),
  ),
  ...(['handle', 'keyed', 'engine'] as const).map(
    (of): Row<World> => ({
      name: `${of}.step`,
      call: ({ engine, run, keyed }, step, options) => {
        const limited = impatient(options)
        if (of === 'engine') return engine.step(run, step, limited)
        return (of === 'handle' ? run : keyed).step(step, limited)
      },
      args: () => ['work', { timeout: 1 }],
      options: { 1: ['timeout', 'signal'] },
      where: ['step()', 'Step "', 'has no step', 'The wait for the result'],
    }),
  ),
]

/** Adds a limit: the run never ends, so a wait without one would never end either. */
function impatient(options: never): never {
  const isFine = options === undefined || (typeof options === 'object' && options !== null)
  try {
    return isFine && (options as { timeout?: unknown } | undefined)?.timeout === undefined
      ? ({ ...(options as object | undefined), timeout: 1 } as never)
      : options
  } catch {
    return options
  }
}
