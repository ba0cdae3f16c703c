const VIOLATIONS_MAX = 20

/** The violations found in a world. */
export class Violations {
  readonly found: string[] = []

  add(violation: string): void {
    if (this.found.length < VIOLATIONS_MAX) this.found.push(violation)
  }
}
