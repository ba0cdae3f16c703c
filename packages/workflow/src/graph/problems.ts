import { DefinitionError, type DefinitionProblem } from '../errors.ts'

/** The most problems in a message; the error's `problems` holds them all. */
const SHOWN_MAX = 5

/** Collects the problems of a definition, so that one error reports them all. */
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

  /** Returns the result of a check, or undefined if it found a problem. Rethrows other errors. */
  collect<Result>(check: () => Result): Result | undefined {
    try {
      return check()
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error
      this.add(error)
      return undefined
    }
  }

  /** Throws the collected problems as one error. */
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
