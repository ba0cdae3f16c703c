import type { Keyboard } from '../terminal/keyboard.ts'
import type { Screen } from '../terminal/screen.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
const EXIT_CODE = 130

/** The user's wish to leave. The first q, Ctrl-C or signal stops gracefully, the second one at once. */
export class Interruption {
  readonly #controller = new AbortController()
  readonly #screen: Screen
  readonly #keyboard: Keyboard
  #advice: readonly string[] = []
  #exitCode = EXIT_CODE

  constructor(screen: Screen, keyboard: Keyboard) {
    this.#screen = screen
    this.#keyboard = keyboard
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Of a program that was interrupted: 0 after q, which is a way to end. */
  get exitCode(): number {
    return this.#exitCode
  }

  /** What to tell who has interrupted. */
  get advice(): readonly string[] {
    return this.#advice
  }

  advise(...lines: readonly string[]): void {
    this.#advice = lines
  }

  watch(): void {
    for (const signal of SIGNALS) process.on(signal, () => this.#interrupt(EXIT_CODE))
    // The terminal was closed, or nobody reads the output any more. That may be heard several times, and is one wish.
    const hangUp = () => this.#controller.abort()
    process.on('SIGHUP', hangUp)
    process.stdout.on('error', hangUp)
    this.#keyboard.open({ quit: (key) => this.#interrupt(key === 'q' ? 0 : EXIT_CODE), hangUp })
  }

  #interrupt(exitCode: number): void {
    if (this.signal.aborted) {
      this.#screen.leavePage()
      this.#keyboard.close()
      process.exit(EXIT_CODE)
    }
    this.#exitCode = exitCode
    this.#screen.print('', 'Stopping, which may take up to 5 seconds. Press Ctrl-C again to leave at once.')
    this.#controller.abort()
  }
}
