/** The cases of a choice with which a step runs, sorted. `choice` is the name of a step of kind `choose`. */
export interface CaseCondition {
  readonly choice: string
  readonly cases: readonly string[]
}
