import picocolors from 'picocolors'
import { cut, type Size, widthOf, wrapped } from './fitting.ts'

export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export type Colours = ReturnType<typeof picocolors.createColors>

/** Lines for a terminal of this size. */
export type Drawing = (size: Size) => readonly string[]

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** The output of the examples. A terminal can redraw some lines, or a whole page; anything else gets only plain, complete lines. */
export class Screen {
  /** Whether lines can be redrawn. */
  readonly live: boolean
  readonly colours: Colours
  readonly #stream: OutputStream
  #drawing: Drawing | undefined
  #drawn: readonly string[] = []
  #page: Drawing | undefined

  constructor(stream: OutputStream, environment: Readonly<Record<string, string | undefined>> = {}) {
    this.live = stream.isTTY === true && environment['TERM'] !== 'dumb'
    this.colours = picocolors.createColors(hasColours(this.live, environment))
    this.#stream = stream
    if (this.live) stream.on('resize', () => this.#redraw())
  }

  /** The last column stays free: terminals differ in what they do after a character in it. */
  get size(): Size {
    if (!this.live) return { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY }
    return { columns: (this.#stream.columns || 80) - 1, rows: this.#stream.rows || 24 }
  }

  /** Writes permanent lines, above those that are redrawn. A terminal gets them broken between words. */
  print(...lines: readonly string[]): void {
    this.leavePage()
    this.#erase()
    const fitting = lines.flatMap((line) => wrapped(line, this.size.columns))
    this.#stream.write(`${fitting.join('\n')}\n`)
  }

  heading(text: string): void {
    this.print('', this.colours.bold(text))
  }

  /** Draws lines over the ones drawn before, and again when the terminal's size changes. Does nothing without a terminal. */
  draw(drawing: Drawing): void {
    if (!this.live) return
    this.leavePage()
    this.#erase()
    const { columns, rows } = this.size
    // A line that wraps, or a drawing taller than the screen, could not be erased.
    const shown = drawing({ columns, rows: rows - 1 })
      .slice(0, rows - 1)
      .map((line) => cut(line, columns))
    this.#stream.write(`${shown.join('\n')}\n`)
    this.#drawing = drawing
    this.#drawn = shown
  }

  /** Leaves the drawing as it is. */
  keep(): void {
    this.#drawing = undefined
    this.#drawn = []
  }

  /** Begins a page, which fills the terminal. What stood there goes up into the scrollback. */
  turnPage(): void {
    if (!this.live) return
    this.leavePage()
    this.#erase()
    const { rows } = this.size
    this.#stream.write(`\u001b[${rows};1H${'\n'.repeat(rows)}${HIDE_CURSOR}`)
    this.#page = () => []
  }

  /** Draws the page anew. */
  drawPage(drawing: Drawing): void {
    if (this.#page === undefined) return
    this.#page = drawing
    const lines = drawing(this.size)
    const text = lines.map((line) => line + CLEAR_LINE).join('\r\n')
    this.#stream.write(`${HOME}${text}${CLEAR_BELOW}`)
  }

  /** Leaves the page as it is. Lines that are printed then stand below it. */
  leavePage(): void {
    if (this.#page === undefined) return
    this.#page = undefined
    this.#stream.write(`\r\n${SHOW_CURSOR}`)
  }

  #redraw(): void {
    if (this.#page !== undefined) this.drawPage(this.#page)
    else if (this.#drawing !== undefined) this.draw(this.#drawing)
  }

  #erase(): void {
    if (this.#drawn.length === 0) return
    // A terminal that became narrower has wrapped what was drawn.
    const width = this.size.columns + 1
    const rows = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / width)), 0)
    this.#stream.write(`\u001b[${rows}A${CLEAR_BELOW}`)
    this.keep()
  }
}

/** The usual variables decide, else whether there is a terminal. */
function hasColours(live: boolean, environment: Readonly<Record<string, string | undefined>>): boolean {
  if (environment['NO_COLOR']) return false
  const forced = environment['FORCE_COLOR']
  return forced === undefined ? live : forced !== '0' && forced !== 'false'
}
