const VIOLATIONS_MAX = 20

/** The violations found in a world. */
export class Violations {
  readonly found: string[] = []
  /** Nothing is known of a run whose rows were damaged. */
  readonly #isExcused: (violation: string) => boolean

  constructor(isExcused: (violation: string) => boolean = () => false) {
    this.#isExcused = isExcused
  }

  add(violation: string): void {
    if (this.found.length < VIOLATIONS_MAX && !this.#isExcused(violation)) this.found.push(violation)
  }
}
