import type { Adapter } from '../adapter/index.ts'
import type { Clock } from '../clock.ts'
import type { StepDefinition } from '../definition/step.ts'
import { itemOf } from '../definition/step-draft.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import type { Duration } from '../duration.ts'
import { BelayError } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import {
  anything,
  callback,
  checkArgument,
  checkOptions,
  duration,
  having,
  type Kind,
  type OptionRow,
  type OptionTable,
  oneOf,
  Refusal,
  string,
  wholeNumber,
  yesOrNo,
} from '../options/index.ts'
import { shown } from '../shown.ts'
import { AROUND, type Around } from './attempt/around.ts'
import type { ValueLimits } from './attempt/telling.ts'
import type { CallSettings } from './base/call-settings.ts'
import { consoleLogger, warningLogger } from './base/console-logger.ts'
import { Context } from './base/context.ts'
import { isDefinition } from './base/definition-argument.ts'
import { guardLogger } from './base/guarded-logger.ts'
import { RunTraceparents } from './base/run-traceparents.ts'
import { systemRuntime } from './base/runtime.ts'
import { callersTraceparent } from './base/traceparent.ts'
import { DEV_LEASE_MS, enterDevelopment } from './development.ts'
import { isPino, type PinoLike, pinoLogger } from './loggers.ts'
import { checkRetention, type RetentionPolicy, type RetentionSettings } from './retention/retention-policy.ts'
import { checkDeclared } from './schedules/declared.ts'
import type { DeclaredSchedule } from './schedules/schedule-options.ts'

/** What `createEngine()` takes. */
export interface EngineOptions {
  /** Where runs are stored: `postgres(url)`, `pglite(directory)`, or `memory()` in tests. */
  readonly adapter: Adapter
  /**
   * Schedules that this code declares: stored by `start()`. Declared schedules of the engine's `workflows` that are not among them any more are paused.
   * Default: schedules are left as they are.
   */
  readonly schedules?: readonly DeclaredSchedule[]
  /** The workflows whose steps this process executes once it is started. Not needed in a process that only starts runs. */
  readonly workflows?: readonly WorkflowDefinition[]
  /**
   * Development mode: a changed shape gets a version of its own instead of `definition_changed`, the schema is migrated at the start unless the
   * adapter has `autoMigrate: false`, the lease is 5 s, and the log goes to the console. Refused when NODE_ENV is `production`. Default false.
   */
  readonly dev?: boolean
  /**
   * Handlers running at once in this worker, 1 to 10,000. Protects what they use; throughput does not need more, because a worker leases steps in
   * advance while its handlers are quick. Default 50.
   */
  readonly concurrency?: number
  /**
   * Slots in addition to `concurrency` that only undos take, 0 to 1,000: a rollback goes on while handlers that take long have all other slots. With 0 it
   * waits until one of them ends. Default 1; with `concurrency: 1`, which says that no two handlers run at once, 0.
   */
  readonly undoSlots?: number
  /** How often the worker looks for work when nothing wakes it, 10 ms to 1 min. Default 200 ms. */
  readonly tick?: Duration
  /**
   * How long a worker may fail to renew its lease before its steps go to other workers, 100 ms to 1 day. It renews every third of that. Default 30
   * s; in development mode 5 s.
   */
  readonly lease?: Duration
  /** The largest input or output, in bytes of JSON, 1 to 256 MiB. Default 1 MiB. */
  readonly payloadMaxBytes?: number
  /** The most keys that a run may have for values that its steps publish, 1 to 10,000. Default 100. */
  readonly valuesMax?: number
  /** The largest value that a step may publish, in bytes of JSON, 1 to 1 MiB. Default 16 KiB. */
  readonly valueMaxBytes?: number
  /** Shown in the worker registry. Default `'worker'`. */
  readonly name?: string
  /** The machine's name in the worker registry. Default: the adapter's name for it. */
  readonly host?: string
  /** Prunes ended runs and releases their keys in the background, in small batches. Default: keeps everything. */
  readonly retention?: RetentionPolicy
  /**
   * `'keep'` stores each ended attempt as a row, for `runs.attempts()`. That costs one more insert for each attempt. Set it on every engine of a
   * store. The rows are pruned with their run. Default: only the newest attempt of each direction is stored, and the counts.
   */
  readonly attempts?: 'keep'
  /**
   * Whether the errors of failed attempts are stored with the upper ten frames of their stacks, at most 2,000 characters each. They show paths of files.
   * Default true.
   */
  readonly storeStacks?: boolean
  /**
   * Where messages go: `jsonLogger()`, a pino logger, winston, `console`, or an object with these four methods; false for nowhere. Default: warnings
   * and errors to the console; in development mode, everything.
   */
  readonly logger?: Logger | PinoLike | false
  /**
   * Surrounds the handlers and compensations that this worker calls, for telemetry: {@link Around} has the rules. The first is the outermost.
   * Default: none, which costs nothing.
   */
  readonly around?: readonly Around[]
  /**
   * Tells the W3C trace context of whoever starts a run: called once in each `run()` and `runMany()`, in the caller's async context, except for starts that
   * are collected. The run's attempts get it from `attempt.traceparent()`. What it throws, or answers in another form, is logged once and ignored. Children
   * do not inherit it. Default: runs have one only if their options give it.
   */
  readonly traceparent?: () => string | undefined
  /** The source of timers. Default: the adapter's clock if its time is virtual, else the system's clock. */
  readonly clock?: Clock
  /** Randomises retry delays. Default `Math.random`. */
  readonly random?: () => number
  /** Makes time-ordered UUIDs for runs and workers. Default: UUID v7. */
  readonly newId?: () => string
}

export interface EngineSettings extends CallSettings {
  readonly adapter: Adapter
  readonly dev: boolean
  readonly schedules: readonly DeclaredSchedule[] | undefined
  readonly concurrency: number
  readonly undoSlots: number
  readonly tickMs: number
  readonly leaseMs: number
  readonly name: string
  readonly host: string | undefined
  readonly retention: RetentionSettings | undefined
  readonly keepAttempts: boolean
  readonly storeStacks: boolean
  readonly valueLimits: ValueLimits
  /** Undefined for none. */
  readonly around: readonly Around[] | undefined
  /** For the engine's own messages. */
  readonly log: Logger
  /** For those of handlers. */
  readonly handlerLog: Logger
}

const ADAPTER = having<Adapter>('an adapter, like postgres(url), pglite(directory) or memory()', [
  'open',
  'startRuns',
  'claim',
  'settle',
  'close',
])

const LOGGER = having<Logger | PinoLike>('a logger with debug, info, warn and error', [
  'debug',
  'info',
  'warn',
  'error',
])

const LOGGER_OR_FALSE: Kind<Logger | PinoLike | false> = {
  words: `${LOGGER.words}, or false`,
  read: (given) => (given === false ? given : LOGGER.read(given)),
}

const OPTIONS = {
  adapter: { sets: 'where runs are stored', takes: ADAPTER, required: true },
  workflows: { sets: 'the workflows that this process can run', takes: anything, default: [] },
  schedules: { sets: 'the schedules that this code declares', takes: anything },
  dev: { sets: 'whether this is development', takes: yesOrNo, default: false },
  concurrency: { sets: 'how many handlers run at once', takes: wholeNumber(1, 10_000), default: 50 },
  undoSlots: { sets: 'how many slots only undos take', takes: wholeNumber(0, 1_000) },
  tick: {
    sets: 'how often the engine looks for work when nothing wakes it',
    takes: duration('10ms', '1m'),
    default: '200ms',
  },
  lease: {
    sets: 'how long a worker may fail to renew its lease before its steps go to other workers',
    takes: duration('100ms', '1d'),
  },
  payloadMaxBytes: {
    sets: 'the largest input or output, in bytes of JSON',
    takes: wholeNumber(1, 256 * 1024 * 1024),
    default: 1024 * 1024,
  },
  valuesMax: { sets: 'how many keys a run may have', takes: wholeNumber(1, 10_000), default: 100 },
  valueMaxBytes: {
    sets: 'the largest value that a step may publish, in bytes of JSON',
    takes: wholeNumber(1, 1024 * 1024),
    default: 16 * 1024,
  },
  name: { sets: "this worker's name in the registry", takes: string(1, 255), default: 'worker' },
  host: { sets: "this machine's name in the registry", takes: string(1, 255) },
  retention: { sets: 'how long ended runs are kept', takes: anything },
  attempts: { sets: 'whether every attempt is kept', takes: oneOf(['keep']) },
  storeStacks: { sets: 'whether errors are stored with their stacks', takes: yesOrNo, default: true },
  logger: { sets: 'where log messages go', takes: LOGGER_OR_FALSE },
  around: { sets: 'what surrounds handlers', takes: AROUND, default: [] },
  traceparent: { sets: 'the trace context of callers', takes: callback<() => string | undefined>() },
  clock: {
    sets: 'the source of timers',
    takes: having<Clock>('a clock with now and after', ['now', 'after']),
  },
  random: { sets: 'the randomness of retry delays', takes: callback<() => number>() },
  newId: { sets: 'the ids of runs and workers', takes: callback<() => string>() },
} satisfies OptionTable & Readonly<Record<keyof EngineOptions, OptionRow>>

function loggerOf(given: Logger | PinoLike | false | undefined, dev: boolean): Logger {
  if (given === undefined) return dev ? consoleLogger : warningLogger
  if (given === false) return silentLogger
  return isPino(given) ? pinoLogger(given) : (given as Logger)
}

const CALL = 'createEngine()'
const LEASE_MS = 30_000

/** Checks the options and fills in defaults. In development mode the adapter learns of it. Throws `invalid_option`. */
export function checkEngineOptions(options: EngineOptions): EngineSettings {
  const checked = checkOptions(CALL, options, OPTIONS)
  const { adapter, retention, dev, schedules } = checked
  const context = new Context()
  if (dev) enterDevelopment(CALL, adapter)
  const loggers = guardLogger(loggerOf(checked.logger, dev), context)
  const isSurrounded = checked.around.length > 0
  return {
    adapter,
    dev,
    workflows: checkWorkflows(checked.workflows),
    schedules: schedules === undefined ? undefined : checkDeclared(schedules),
    concurrency: checked.concurrency,
    undoSlots: checked.undoSlots ?? (checked.concurrency === 1 ? 0 : 1),
    tickMs: checked.tick,
    leaseMs: checked.lease ?? (dev ? DEV_LEASE_MS : LEASE_MS),
    payloadMaxBytes: checked.payloadMaxBytes,
    name: checked.name,
    host: checked.host,
    retention: retention === undefined ? undefined : checkRetention(retention),
    keepAttempts: checked.attempts === 'keep',
    storeStacks: checked.storeStacks,
    valueLimits: { valuesMax: checked.valuesMax, valueMaxBytes: checked.valueMaxBytes },
    around: isSurrounded ? checked.around : undefined,
    traceparents: isSurrounded ? new RunTraceparents(adapter) : undefined,
    traceparent: checked.traceparent && callersTraceparent(checked.traceparent, loggers.log),
    ...loggers,
    runtime: {
      clock: checked.clock ?? adapter.clock ?? systemRuntime.clock,
      random: checked.random ?? systemRuntime.random,
      newId: checked.newId ?? systemRuntime.newId,
      context,
    },
  }
}

function checkWorkflows(given: unknown): readonly WorkflowDefinition[] {
  const workflows = checkArgument(CALL, 'workflows', given, DEFINITIONS)
  const seen = new Set<string>()
  for (const { name, version } of workflows) {
    const id = `${name} version ${version}`
    if (seen.has(id)) {
      throw new BelayError('invalid_option', `${CALL}: workflows holds ${id} twice. Give each version once.`)
    }
    seen.add(id)
  }
  return withChildren(workflows)
}

/** A worker that has a definition also has those of its children, unless it is given other ones. */
function withChildren(workflows: readonly WorkflowDefinition[]): readonly WorkflowDefinition[] {
  const all = new Map(workflows.map((workflow) => [`${workflow.name}@${workflow.version}`, workflow]))
  // Definitions that are added are visited in turn.
  for (const { steps } of all.values()) {
    for (const step of steps) {
      const { wait } = itemOf<StepDefinition>(step) ?? step
      if (wait?.kind !== 'child' || typeof wait.of === 'string') continue
      const child = wait.of as WorkflowDefinition
      const name = `${child.name}@${child.version}`
      if (!all.has(name)) all.set(name, child)
    }
  }
  return [...all.values()]
}

const DEFINITIONS: Kind<readonly WorkflowDefinition[]> = {
  words: 'an array of definitions made by define() or defineGraph()',
  read(given) {
    if (!Array.isArray(given)) return new Refusal(shown(given))
    const other = Array.from(given).findIndex((workflow) => !isDefinition(workflow))
    return other === -1 ? given : new Refusal(`${shown(given[other])} at index ${other}`)
  },
}
