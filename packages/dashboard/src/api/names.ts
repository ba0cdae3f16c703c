/** `GET names`: {@link Names}, of what can be looked for by its name beside runs. */
export interface Names {
  /** Stored ones by their name, up to 100. */
  readonly workflows: readonly {
    readonly name: string
    /** Of its newest version, up to 200. */
    readonly steps: readonly string[]
  }[]
}
