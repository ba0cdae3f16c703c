import type { Duration } from '../duration.ts'

/** What the `key` of a step's limit is given. Of a map's item also the item, of a loop's round also its number. */
export interface LimitKeyContext<Input = unknown, Deps = Readonly<Record<string, unknown>>> {
  readonly runId: string
  /** The step's name. */
  readonly step: string
  readonly input: Input
  /** Outputs of the steps named in `dependsOn`, by name. */
  readonly deps: Deps
}

/** What the `key` of a workflow's limit is given. */
export interface RunLimitKeyContext<Input = unknown> {
  readonly runId: string
  readonly input: Input
}

/** How many at once, in all worker processes together. */
export interface ConcurrencyOptions<Context = LimitKeyContext> {
  /** How many may be under way at once: for each key, if there is a `key`. From 1 to 100,000. `engine.limits.set()` changes it at run time. */
  readonly limit: number
  /**
   * Returns a text: those with the same text share the `limit`, and others have their own. Called in the worker, before each attempt of the handler;
   * it must have no effects. If it throws, or returns anything but a text of 1 to 256 characters, the attempt fails. Default: all share one.
   */
  readonly key?: ((context: Context) => string | Promise<string>) | undefined
  /** Steps and workflows that give the same name share one limit. Default: the workflow's name, and for a step `workflow.step`. */
  readonly name?: string | undefined
  /**
   * What happens if there is no slot. `wait`: whoever asks waits for one. `skip`: a step is skipped, as if its `when` had returned false; it must have
   * a `when`, and be no item of a map and no round of a loop. Default `wait`.
   */
  readonly atLimit?: 'wait' | 'skip' | undefined
}

/** How many runs at once, in all worker processes together. */
export interface RunConcurrencyOptions<Context = RunLimitKeyContext>
  extends Omit<ConcurrencyOptions<Context>, 'atLimit'> {
  /**
   * What happens if there is no slot for a run. `wait`: it waits for one. `skip`: it is cancelled before its first step, with the limit and key as its
   * cause. `cancel-older`: only the newest `limit` runs of the key count. It waits, and those that were created before them are cancelled, with their
   * undo, whether they have a slot or wait; a run that is itself older than so many is cancelled. `refuse`: the run takes its slot when it is started,
   * and without one `run()` throws a `LimitReachedError` and starts nothing. Default `wait`.
   */
  readonly atLimit?: 'wait' | 'skip' | 'cancel-older' | 'refuse' | undefined
}

/** How many begin in a time, in all worker processes together. */
export interface RateLimitOptions<Context = LimitKeyContext> {
  /**
   * How many may begin in each `per`: for each key, if there is a `key`. They are spread evenly: with 100 per second, one begins every 10 ms. From 1 to
   * 100,000. `engine.limits.set()` changes it at run time.
   */
  readonly limit: number
  /** A duration, like `'1s'`. From 100 ms to 31 days. */
  readonly per: Duration
  /** How many may begin at once after a quiet time. From 1 to 100,000. Default: what begins in 10 ms, and at least 1. */
  readonly burst?: number | undefined
  /** As of a concurrency limit: returns a text, and those with the same text share the `limit`. Default: all share one. */
  readonly key?: ((context: Context) => string | Promise<string>) | undefined
  /** Steps and workflows that give the same name share one limit. Default: the workflow's name and `:rate`, and for a step `workflow.step:rate`. */
  readonly name?: string | undefined
}

/** What steps that work may be given, and each item of a map and each round of a loop. */
export interface StepLimitOptions<Input, Deps> {
  /**
   * How many attempts of the handler may be under way at once, in all worker processes together, in total or by key. A step at the limit waits
   * without a worker, first come, first served. Compensations are not limited. Default: no limit.
   */
  readonly concurrency?:
    | ConcurrencyOptions<LimitKeyContext<Input, Deps>>
    | readonly ConcurrencyOptions<LimitKeyContext<Input, Deps>>[]
    | undefined
  /**
   * How many attempts of the handler may begin in a time, in all worker processes together, in total or by key. A step that must wait does so without
   * a worker, first come, first served. Compensations are not limited. Default: no limit.
   */
  readonly rateLimit?:
    | RateLimitOptions<LimitKeyContext<Input, Deps>>
    | readonly RateLimitOptions<LimitKeyContext<Input, Deps>>[]
    | undefined
}

/** What a workflow may be given. */
export interface WorkflowLimitOptions<Input> {
  /**
   * How many runs may be under way at once, in total or by key. A run takes its slot when its first step would begin, or with `atLimit: 'refuse'` when
   * it is started, and frees it when the run has ended, its undo included. Default: no limit.
   */
  readonly concurrency?:
    | RunConcurrencyOptions<RunLimitKeyContext<Input>>
    | readonly RunConcurrencyOptions<RunLimitKeyContext<Input>>[]
    | undefined
  /** How many runs may begin in a time, in total or by key: a run begins with its first step. Default: no limit. */
  readonly rateLimit?:
    | RateLimitOptions<RunLimitKeyContext<Input>>
    | readonly RateLimitOptions<RunLimitKeyContext<Input>>[]
    | undefined
}
