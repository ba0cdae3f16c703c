import { CONDITION_OPTION_NAMES } from './condition.ts'
import type { GraphStepDefaults } from './graph-options.ts'
import { RETRY_OPTION_NAMES } from './retry-policy.ts'
import { EFFECT_OPTION_NAMES, PIVOT_OPTION_NAMES } from './saga-options.ts'
import type { StepDefaults } from './step-options.ts'

const ATTEMPT_OPTION_NAMES = [...RETRY_OPTION_NAMES, 'timeout'] as const
export const GRAPH_OPTION_NAMES = [
  'version',
  'input',
  'deadline',
  'steps',
  'dag',
  'ends',
  'concurrency',
  ...ATTEMPT_OPTION_NAMES,
  'lossesMax',
] as const
export const ITEM_OPTION_NAMES = [
  'handler',
  'compensate',
  'compensateOn',
  'transaction',
  'heartbeatTimeout',
  'concurrency',
  ...EFFECT_OPTION_NAMES,
  ...ATTEMPT_OPTION_NAMES,
  'lossesMax',
  ...CONDITION_OPTION_NAMES,
] as const
export const STEP_OPTION_NAMES = [...ITEM_OPTION_NAMES, ...PIVOT_OPTION_NAMES] as const
export const COMPENSATION_OPTION_NAMES = [
  'handler',
  'transaction',
  'heartbeatTimeout',
  ...ATTEMPT_OPTION_NAMES,
] as const

/** A graph as data has retry options beside the others; code has them under `retry`. */
export function nested(flat: GraphStepDefaults): StepDefaults {
  const { attempts, retries, backoff, initial, max, jitter, for: forTime, timeout, lossesMax } = flat
  const retry = { attempts, retries, backoff, initial, max, jitter, for: forTime }
  return { retry, timeout, lossesMax }
}
