import type { Duration } from '../duration.ts'

/**
 * Tells the key of a call: a function of its input, or the name of a member of the input, like `'docId'` or `'customer.id'`, whose value is a string
 * or a whole number. Calls with the same key are collected together. The key has 1 to 512 characters.
 */
export type StartKey<Input> = ((call: { readonly input: Input }) => string) | string

interface KeyedStart<Input> {
  /** Default: all calls of the workflow are collected together. */
  readonly key?: StartKey<Input> | undefined
}

/** How many calls one run takes, and how long. */
export interface BatchOptions {
  /** The run begins once it has that many calls: 1 to 1,000. */
  readonly max: number
  /** The run begins at the latest this long after its first call: up to 1 day. */
  readonly within: Duration
}

/** How calls of `run()` are collected into fewer runs. One of `debounce`, `throttle` and `batch`. */
export type StartOptions<
  Input,
  Batch extends BatchOptions | undefined = BatchOptions | undefined,
> = KeyedStart<Input> &
  (
    | {
        /** The run begins this long after the last call, with the input of the last call. */
        readonly debounce: Duration
        /** The run begins at the latest this long after the first call, at least `debounce`. Default: no limit. */
        readonly max?: Duration | undefined
        readonly throttle?: undefined
        readonly batch?: undefined
      }
    | {
        /**
         * At most one start in this period. The first call starts a run at once. The calls of the period after it make one run, which begins at the
         * end of the period with the input of the last call.
         */
        readonly throttle: Duration
        readonly debounce?: undefined
        readonly batch?: undefined
        readonly max?: undefined
      }
    | {
        /** One run for many calls: its input is the array of their inputs, in the order of the calls. */
        readonly batch: Batch & BatchOptions
        readonly debounce?: undefined
        readonly throttle?: undefined
        readonly max?: undefined
      }
  )

/** What handlers get as the input: of a batched workflow, an array. */
export type StartInput<Input, Batch> = Batch extends BatchOptions ? readonly Input[] : Input
