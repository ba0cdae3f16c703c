import { DefinitionError, type DefinitionProblem } from '../errors.ts'

/** Problems that a message names; all of them are in the error's `problems`. */
const SHOWN_MAX = 5

/** Collects what is wrong with a definition, so that all of it is told at once. */
export class Problems {
  readonly #workflow: string
  readonly #errors: DefinitionError[] = []

  constructor(workflow: string) {
    this.#workflow = workflow
  }

  get count(): number {
    return this.#errors.length
  }

  add(error: DefinitionError): void {
    this.#errors.push(error)
  }

  /** The result of a check; undefined when it found a problem. Other errors are thrown. */
  collect<Result>(check: () => Result): Result | undefined {
    try {
      return check()
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error
      this.add(error)
      return undefined
    }
  }

  /** Throws what was collected, as one error. */
  throwIfAny(): void {
    const [first] = this.#errors
    if (first === undefined) return
    const problems = this.#errors.flatMap((error) => error.problems)
    if (problems.length === 1) throw first
    throw new DefinitionError(this.#messageOf(problems), { problems })
  }

  #messageOf(problems: readonly DefinitionProblem[]): string {
    const prefix = `Workflow "${this.#workflow}"`
    const lines = problems.slice(0, SHOWN_MAX).map(({ message }) => {
      const shown = message.startsWith(prefix) ? message.slice(prefix.length).replace(/^[:,] /, '') : message
      return `\n- ${shown}`
    })
    const left = problems.length - lines.length
    const rest = left === 0 ? '' : `\n- and ${left} more; the error's "problems" holds them all.`
    return `${prefix} has ${problems.length} problems:${lines.join('')}${rest}`
  }
}
