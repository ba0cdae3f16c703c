import { isDeepStrictEqual } from 'node:util'
import type { Colours } from './screen.ts'

/** Where a checklist writes: a screen, or a page that shows it below other things. */
export interface Paper {
  readonly colours: Colours
  print(...lines: readonly string[]): void
}

/** The promises, checked one by one before the reader's eyes. */
export class Checklist {
  #broken = 0
  readonly #paper: Paper

  constructor(paper: Paper) {
    this.#paper = paper
  }

  /** True while every promise was kept. */
  get allKept(): boolean {
    return this.#broken === 0
  }

  check(
    promise: string,
    { actual, expected }: { readonly actual: unknown; readonly expected: unknown },
  ): void {
    const { green, red } = this.#paper.colours
    if (isDeepStrictEqual(actual, expected)) {
      this.#paper.print(`  ${green('✔')} ${promise}`)
      return
    }
    this.#broken += 1
    this.#paper.print(
      `  ${red('✘')} ${promise}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(actual)}`,
    )
  }
}
