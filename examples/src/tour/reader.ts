import type { Keyboard } from '../terminal/keyboard.ts'
import type { Screen } from '../terminal/screen.ts'

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

interface Sitting {
  readonly reader: Reader
  readonly screen: Screen
  /** How long the reader may look at a page before the next one comes by itself. */
  readonly pageMs: number
}

/** Draws a page until the reader has seen it. Without a terminal there is no page. */
export async function untilSeen(
  { reader, screen, pageMs }: Sitting,
  draw: (footer: string) => void,
): Promise<void> {
  if (!screen.live) return
  const { bold } = screen.colours
  const endsAtMs = performance.now() + pageMs
  for (;;) {
    const leftMs = Math.max(0, endsAtMs - performance.now())
    const seconds = Math.ceil(leftMs / 1_000)
    draw(
      reader.hasKeyboard
        ? `${bold('any key')} go on (by itself in ${seconds} s)   ${bold('q')} quit`
        : `It goes on in ${seconds} s.`,
    )
    if (reader.keys().length > 0 || leftMs === 0) return
    await reader.pause(Math.min(leftMs, 1_000))
  }
}
