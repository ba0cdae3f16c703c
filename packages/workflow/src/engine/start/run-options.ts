import type { CallerTransaction } from '../../adapter/index.ts'
import type { StartTimes } from './start-times.ts'

export interface RunOptions extends StartTimes {
  /** The business event that this run belongs to, like `order:9182`; 1 to 512 characters, unique per workflow. */
  readonly key?: string | undefined
  /**
   * Labels to find the run by, like `['tenant:7']`: up to 20 different strings of 1 to 200 characters. If the key belongs to an earlier run, that
   * run's tags do not change.
   */
  readonly tags?: readonly string[] | undefined
  /**
   * The W3C trace context of the caller, which hooks of the run's attempts get from `attempt.traceparent()`. It is stored as the tag `traceparent:00-…-01`,
   * beside the other twenty. Not for workflows that collect their starts. If the key belongs to an earlier run, that run's does not change. Default: what
   * the engine's option `traceparent` answers.
   */
  readonly traceparent?: string | undefined
  /**
   * Whole number from 0 to 1,000, higher first; default: the definition's. For each level, the run's steps overtake whatever became ready up to a
   * minute before them. Children and follow-ups inherit it. A run that collects calls keeps the priority of the call that opened it.
   */
  readonly priority?: number | undefined
  /**
   * The caller's open transaction on the engine's database: the run exists once it commits. Adapters define what they accept; all accept the `tx` of
   * a transactional handler. Await `result()` only after the commit.
   */
  readonly tx?: CallerTransaction | undefined
}
