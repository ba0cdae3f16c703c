/** What happened when, to help understand a failure. Bounded: the oldest lines are dropped. */
export class Timeline {
  readonly #startedAt = performance.now()
  readonly #lines: string[] = []
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt
  }

  add(line: string): void {
    this.#lines.push(`${(this.elapsedMs / 1_000).toFixed(2).padStart(8)} s  ${line}`)
    if (this.#lines.length > this.#most) this.#lines.shift()
  }

  get lines(): readonly string[] {
    return this.#lines
  }
}
