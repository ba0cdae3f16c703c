/**
 * A verb that an explanation or a finding may offer, by its name in the API. `migrateRun` is `engine.migrateRun()`, `dropForgotten` is
 * `engine.runs.dropForgotten()`, and names with a dot are below the engine: `limits.set` is `engine.limits.set()`. All others are methods of a run's
 * handle.
 */
export type OfferedVerb =
  | 'resume'
  | 'pause'
  | 'cancel'
  | 'retry'
  | 'migrateRun'
  | 'retryStep'
  | 'skipStep'
  | 'giveUpStep'
  | 'retryCompensation'
  | 'skipCompensation'
  | 'signal'
  | 'approve'
  | 'reject'
  | 'dropForgotten'
  | 'limits.set'
  | 'limits.reset'
  | 'schedules.pause'

/**
 * Something that an operator may do now about the sentence beside it: for a command line or a dashboard, which offer it as a command or a button. The
 * engine accepts it in the state that was read; the state may change before somebody acts. What else the verb takes, like a reason, a payload or a
 * version, is the operator's.
 */
export interface OfferedAction {
  readonly verb: OfferedVerb
  /** The step that the verb is about; absent for a verb that is about a whole run, a limit or a schedule. */
  readonly step?: string
  /**
   * The run that the verb is about. Absent in an explanation: the explained run. Absent in a finding: all of its runs, which are more than those it
   * names, through the verb's form for many runs, like `runs.cancelMany()`, which tells those it refuses; of a limit or of schedules, nothing but what the
   * finding names. It is the run above a child that can be retried only through its parent.
   */
  readonly run?: string
}
