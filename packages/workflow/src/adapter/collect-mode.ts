/**
 * How the calls that start a workflow are collected. `debounce`: one run, some time after the last call. `throttle`: at most one start in each
 * period. `batch`: one run for many calls, with the array of their inputs.
 */
export type CollectMode = 'debounce' | 'throttle' | 'batch'
