import { isDeepStrictEqual } from 'node:util'
import type { Screen } from './screen.ts'

/** The promises, checked one by one before the reader's eyes. */
export class Checklist {
  #broken = 0
  readonly #screen: Screen

  constructor(screen: Screen) {
    this.#screen = screen
  }

  /** True while every promise was kept. */
  get allKept(): boolean {
    return this.#broken === 0
  }

  check(
    promise: string,
    { actual, expected }: { readonly actual: unknown; readonly expected: unknown },
  ): void {
    const { green, red } = this.#screen.colours
    if (isDeepStrictEqual(actual, expected)) {
      this.#screen.print(`  ${green('✔')} ${promise}`)
      return
    }
    this.#broken += 1
    this.#screen.print(
      `  ${red('✘')} ${promise}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(actual)}`,
    )
  }
}
