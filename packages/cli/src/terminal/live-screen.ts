import type { CallProcess } from './call-process.ts'
import type { Output } from './output.ts'

const [CURSOR_HIDDEN, CURSOR_SHOWN] = ['\u001b[?25l', '\u001b[?25h']
const [WRAP_OFF, WRAP_ON] = ['\u001b[?7l', '\u001b[?7h']
const [REST_OF_LINE, REST_OF_SCREEN] = ['\u001b[K', '\u001b[J']

/** Lines that are drawn again in place. Between `begin` and `end` the cursor is hidden, and no line wraps: one line stays one row. */
export class LiveScreen {
  readonly #out: Output
  #rows = 0

  constructor(out: Output) {
    this.#out = out
  }

  begin(): void {
    this.#out.raw(CURSOR_HIDDEN + WRAP_OFF)
  }

  draw(lines: readonly string[]): void {
    const up = this.#rows > 0 ? `\u001b[${this.#rows}A` : ''
    const text = lines.map((line) => `${line}${REST_OF_LINE}\r\n`).join('')
    this.#out.raw(`${up}\r${text}${REST_OF_SCREEN}`)
    this.#rows = lines.length
  }

  end(): void {
    this.#out.raw(WRAP_ON + CURSOR_SHOWN)
  }
}

/** Keys, as they are pressed, without Enter. */
export interface Keys {
  /** False without a keyboard: then only Ctrl-C ends a wait. */
  readonly isOpen: boolean
  /** The next key; undefined if none was pressed in that time. Ctrl-C is `leave`, by whichever way it comes. */
  next(ms: number): Promise<string | undefined>
  close(): void
}

const CTRL_C = '\u0003'

/** Without `stdin` nobody can press a key. */
export function openKeys(stdin: CallProcess['stdin'] | undefined, signal: AbortSignal): Keys {
  const isOpen = stdin?.isTTY === true && stdin.setRawMode !== undefined
  const pressed: string[] = []
  let wake = () => {}
  const onData = (data: Buffer | string) => {
    for (const key of String(data)) pressed.push(key === CTRL_C ? 'leave' : key)
    wake()
  }
  const onAbort = () => {
    pressed.push('leave')
    wake()
  }
  if (isOpen) {
    stdin.setRawMode?.(true)
    stdin.on('data', onData)
    stdin.resume()
  }
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort)
  return {
    isOpen,
    async next(ms) {
      if (pressed.length === 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      return pressed.shift()
    },
    close() {
      signal.removeEventListener('abort', onAbort)
      if (!isOpen) return
      stdin.off('data', onData)
      stdin.setRawMode?.(false)
      stdin.pause()
    },
  }
}
