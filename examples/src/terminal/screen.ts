import { clearScreenDown, moveCursor } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import picocolors from 'picocolors'

export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export type Colours = ReturnType<typeof picocolors.createColors>

/** The output of the examples. A terminal can redraw some lines; anything else gets only plain lines. */
export class Screen {
  /** Whether lines can be redrawn. */
  readonly live: boolean
  readonly colours: Colours
  readonly #stream: OutputStream
  #drawnRows = 0

  constructor(stream: OutputStream, environment: Readonly<Record<string, string | undefined>> = {}) {
    this.live = stream.isTTY === true && environment['TERM'] !== 'dumb'
    this.colours = picocolors.createColors(this.live && !environment['NO_COLOR'])
    this.#stream = stream
  }

  /** Writes permanent lines, above those that are redrawn. */
  print(...lines: readonly string[]): void {
    this.#erase()
    this.#stream.write(`${lines.join('\n')}\n`)
  }

  heading(text: string): void {
    this.print('', this.colours.bold(text))
  }

  /** Draws lines over the ones drawn before. Does nothing without a terminal. */
  draw(lines: readonly string[]): void {
    if (!this.live) return
    const { columns = 80, rows = 24 } = this.#stream
    // A line that wraps, or a drawing taller than the screen, could not be erased.
    const shown = lines.slice(0, rows - 1).map((line) => cut(line, columns - 1))
    this.#erase()
    this.#stream.write(`${shown.join('\n')}\n`)
    this.#drawnRows = shown.length
  }

  /** Leaves the drawing as it is. */
  keep(): void {
    this.#drawnRows = 0
  }

  #erase(): void {
    if (this.#drawnRows === 0) return
    moveCursor(this.#stream, 0, -this.#drawnRows)
    clearScreenDown(this.#stream)
    this.#drawnRows = 0
  }
}

function cut(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line)
  return plain.length <= columns ? line : plain.slice(0, columns)
}
