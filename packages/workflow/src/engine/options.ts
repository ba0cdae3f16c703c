import type { Adapter } from '../adapter/index.ts'
import type { Clock } from '../clock.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { type Duration, durationMs } from '../duration.ts'
import { BelayError } from '../errors.ts'
import { didYouMean } from '../graph/index.ts'
import { type Logger, silentLogger } from '../logger.ts'
import { checkRetention, type RetentionPolicy, type RetentionSettings } from './retention-policy.ts'
import { type Runtime, systemRuntime } from './runtime.ts'

/** What `createEngine()` takes. */
export interface EngineOptions {
  /** Where runs are stored: `postgres(url)`, `pglite(directory)`, or `memory()` in tests. */
  readonly adapter: Adapter
  /** What this process can run once it is started. A process that only triggers runs may leave it out. */
  readonly workflows?: readonly WorkflowDefinition[]
  /** Handlers running at once in this worker, 1 to 10,000. Default 50. */
  readonly concurrency?: number
  /** How often the executor looks for work when nothing wakes it, 10 ms to 1 min. Default 200 ms. */
  readonly tick?: Duration
  /** How long a worker may be silent before its steps are given to others, 100 ms to 1 day. Renewed every third of it. Default 30 s. */
  readonly lease?: Duration
  /** The largest input or output, in bytes of JSON, 1 to 256 MiB. Default 1 MiB. */
  readonly payloadMaxBytes?: number
  /** Shown in the worker registry. Default `'worker'`. */
  readonly name?: string
  /** The machine's name in the worker registry. Default: what the adapter knows it by. */
  readonly host?: string
  /** Prunes ended runs and releases their keys by itself, in small batches. Default: keeps everything. */
  readonly retention?: RetentionPolicy
  /**
   * `'keep'` keeps each attempt that this engine ends as a row of its own, for `runs.attempts()`: one more insert for each attempt. Give it to
   * every engine of a store. Rows are pruned with their run. Default: only the newest attempt of each direction is stored, with the counts.
   */
  readonly attempts?: 'keep'
  /** Default: says nothing. */
  readonly logger?: Logger
  /** Timers; default the adapter's clock if its time is virtual, else the system's. */
  readonly clock?: Clock
  /** Spreads retries; default `Math.random`. */
  readonly random?: () => number
  /** Makes time-ordered uuids for runs and workers; default uuid v7. */
  readonly newId?: () => string
}

export interface EngineSettings {
  readonly adapter: Adapter
  readonly workflows: readonly WorkflowDefinition[]
  readonly concurrency: number
  readonly tickMs: number
  readonly leaseMs: number
  readonly payloadMaxBytes: number
  readonly name: string
  readonly host: string | undefined
  readonly retention: RetentionSettings | undefined
  readonly keepAttempts: boolean
  readonly log: Logger
  readonly runtime: Runtime
}

const KNOWN: Readonly<Record<keyof EngineOptions, true>> = {
  adapter: true,
  workflows: true,
  concurrency: true,
  tick: true,
  lease: true,
  payloadMaxBytes: true,
  name: true,
  host: true,
  retention: true,
  attempts: true,
  logger: true,
  clock: true,
  random: true,
  newId: true,
}

/** Checks options when they are given, and fills in the defaults. Throws `invalid_option`. */
export function checkEngineOptions(options: EngineOptions): EngineSettings {
  if (typeof options !== 'object' || options === null) throw invalid('the options', options, 'an object')
  rejectUnknown(options)
  const { adapter } = options
  if (typeof adapter?.claim !== 'function') {
    throw invalid('adapter', adapter, 'an adapter, like postgres(url), pglite(directory) or memory()')
  }
  return {
    adapter,
    workflows: checkWorkflows(options.workflows ?? []),
    concurrency: integer('concurrency', options.concurrency ?? 50, 1, 10_000),
    tickMs: duration('tick', options.tick ?? '200ms', 10, 60_000),
    leaseMs: duration('lease', options.lease ?? '30s', 100, 86_400_000),
    payloadMaxBytes: integer('payloadMaxBytes', options.payloadMaxBytes ?? 1024 * 1024, 1, 256 * 1024 * 1024),
    name: options.name ?? 'worker',
    host: checkHost(options.host),
    retention: options.retention === undefined ? undefined : checkRetention(options.retention),
    keepAttempts: checkAttempts(options.attempts),
    log: options.logger ?? silentLogger,
    runtime: {
      clock: options.clock ?? adapter.clock ?? systemRuntime.clock,
      random: options.random ?? systemRuntime.random,
      newId: options.newId ?? systemRuntime.newId,
    },
  }
}

function checkWorkflows(workflows: readonly WorkflowDefinition[]): readonly WorkflowDefinition[] {
  if (!Array.isArray(workflows)) throw invalid('workflows', workflows, 'an array of definitions')
  const seen = new Set<string>()
  for (const workflow of workflows) {
    if (typeof workflow?.record?.checksum !== 'string') {
      throw invalid('workflows', workflow, 'definitions made by define() or defineGraph()')
    }
    const id = `${workflow.name} version ${workflow.version}`
    if (seen.has(id)) {
      throw new BelayError('invalid_option', `workflows holds ${id} twice. Give each version once.`)
    }
    seen.add(id)
  }
  return workflows
}

function checkHost(host: string | undefined): string | undefined {
  if (host === undefined) return undefined
  if (typeof host === 'string' && host.length >= 1 && host.length <= 255 && !host.includes('\0')) return host
  throw invalid('host', host, 'a text of 1 to 255 characters')
}

function checkAttempts(attempts: unknown): boolean {
  if (attempts === undefined || attempts === 'keep') return attempts === 'keep'
  throw invalid('attempts', attempts, "'keep', or left out")
}

function rejectUnknown(options: object): void {
  for (const name of Object.keys(options)) {
    if (name in KNOWN) continue
    throw new BelayError(
      'invalid_option',
      `createEngine() has no option "${name}".${didYouMean(name, Object.keys(KNOWN))} It takes ${Object.keys(KNOWN).join(', ')}.`,
    )
  }
}

function integer(option: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw invalid(option, value, `a whole number from ${least} to ${most}`)
}

function duration(option: string, value: Duration, leastMs: number, mostMs: number): number {
  const ms = durationMs(value, option)
  if (ms >= leastMs && ms <= mostMs) return ms
  throw invalid(option, value, `a duration from ${leastMs} ms to ${mostMs} ms`)
}

function invalid(option: string, value: unknown, accepted: string): BelayError {
  const shown = typeof value === 'object' || typeof value === 'function' ? `a ${typeof value}` : String(value)
  return new BelayError('invalid_option', `createEngine(): ${option} must be ${accepted}; got ${shown}.`)
}
