import type { Keyboard } from '../terminal/keyboard.ts'

/** Who watches the tour: somebody at a keyboard, or nobody. */
export class Reader {
  readonly #keyboard: Keyboard
  readonly #interrupted: AbortSignal
  #wake: (() => void) | undefined
  #pressed: string[] = []

  constructor(keyboard: Keyboard, interrupted: AbortSignal) {
    this.#keyboard = keyboard
    this.#interrupted = interrupted
    keyboard.onKey((key) => {
      this.#pressed.push(key)
      this.#wake?.()
    })
    interrupted.addEventListener('abort', () => this.#wake?.())
  }

  get hasKeyboard(): boolean {
    return this.#keyboard.isPresent
  }

  /** The keys pressed since they were last asked for. Throws when the reader wants to leave. */
  keys(): readonly string[] {
    this.#interrupted.throwIfAborted()
    const pressed = this.#pressed
    this.#pressed = []
    return pressed
  }

  /** Resolves after some time, or as soon as a key is pressed. */
  async pause(timeMs: number): Promise<void> {
    if (this.#pressed.length > 0 || this.#interrupted.aborted) return
    await new Promise<void>((resume) => {
      const timer = setTimeout(resume, timeMs)
      this.#wake = () => {
        clearTimeout(timer)
        resume()
      }
    })
    this.#wake = undefined
  }
}
