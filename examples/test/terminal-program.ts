import { fileURLToPath } from 'node:url'
import pty from '@lydell/node-pty'
import headless from '@xterm/headless'

const WAIT_MAX_MS = 120_000

/** An example in a terminal of a given size, whose screen a test can read and whose keys it can press. */
export class TerminalProgram {
  readonly ended: Promise<number>
  /** Everything that was written, escape codes included. */
  bytes = ''
  readonly #pty: pty.IPty
  readonly #terminal: headless.Terminal
  readonly #looking = new Set<() => void>()

  /** `file` is a file of examples/dist. */
  constructor(
    file: string,
    args: readonly string[],
    { columns, rows }: { readonly columns: number; readonly rows: number },
    environment: Readonly<Record<string, string>> = {},
  ) {
    const { DATABASE_URL: _, NO_COLOR: __, FORCE_COLOR: ___, ...inherited } = process.env
    const path = fileURLToPath(new URL(`../dist/${file}`, import.meta.url))
    this.#terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5_000 })
    this.#pty = pty.spawn(process.execPath, [path, ...args], {
      cols: columns,
      rows,
      name: environment['TERM'] ?? 'xterm-256color',
      env: { ...inherited, ...environment },
    })
    this.#pty.onData((text) => {
      this.bytes += text
      this.#terminal.write(text, () => {
        for (const look of [...this.#looking]) look()
      })
    })
    this.ended = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode }) => {
        // What was written last is still on its way to the screen.
        this.#terminal.write('', () => resolve(exitCode))
      })
    })
  }

  press(key: string): void {
    this.#pty.write(key)
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows)
    this.#pty.resize(columns, rows)
  }

  /** The rows on the screen, from top to bottom. */
  get screen(): readonly string[] {
    const { viewportY } = this.#terminal.buffer.active
    return this.#rows(viewportY, viewportY + this.#terminal.rows)
  }

  /** All rows, those that went up into the scrollback too. */
  get history(): readonly string[] {
    return this.#rows(0, this.#terminal.buffer.active.length)
  }

  /** Whether a row continues on the next one because it did not fit. */
  get hasWrappedRow(): boolean {
    const buffer = this.#terminal.buffer.active
    return Array.from({ length: buffer.length }, (_, y) => buffer.getLine(y)?.isWrapped).includes(true)
  }

  /** Waits until the screen shows this, and returns its rows. Rejects if the process ends without showing it, or takes too long. */
  async shows(text: string | RegExp): Promise<readonly string[]> {
    const isShown = () => {
      const shown = this.screen.join('\n')
      return typeof text === 'string' ? shown.includes(text) : text.test(shown)
    }
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer)
        this.#looking.delete(look)
        settle()
      }
      const look = () => {
        if (isShown()) finish(() => resolve(this.screen))
      }
      const refuse = (when: string) =>
        finish(() =>
          reject(new Error(`The screen did not show ${text} ${when}. It shows:\n${this.screen.join('\n')}`)),
        )
      // biome-ignore lint/style/noRestrictedGlobals: bounds a wait.
      const timer = setTimeout(() => refuse('in time'), WAIT_MAX_MS)
      this.#looking.add(look)
      look()
      void this.ended.then(() => refuse('before the process ended'))
    })
  }

  /** Closes the terminal, as a user closes a window. */
  close(): Promise<number> {
    // Not in the published types.
    ;(this.#pty as pty.IPty & { destroy(): void }).destroy()
    return this.ended
  }

  #rows(from: number, to: number): readonly string[] {
    const buffer = this.#terminal.buffer.active
    return Array.from(
      { length: to - from },
      (_, index) => buffer.getLine(from + index)?.translateToString(true) ?? '',
    )
  }
}
