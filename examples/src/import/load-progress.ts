import type { RunDisplay } from '../demonstration/player.ts'
import { isBackwards, type RunView, type StepState } from '../terminal/run-view.ts'
import type { Screen } from '../terminal/screen.ts'

const MARKS: Readonly<Record<StepState, string>> = {
  waiting: '·',
  running: '▒',
  retrying: '▒',
  done: '█',
  failed: '✘',
  'not done': '-',
  'to undo': '█',
  undoing: '▒',
  undone: '↩',
  'undo failed': '✘',
}

const FRAME_MS = 50

/** One line for a run of many loads: a mark for each chunk, and how many rows the table holds of the edition. */
export class LoadProgress implements RunDisplay {
  #view: RunView
  #drawnAtMs = 0
  readonly #screen: Screen
  readonly #rows: { readonly stored: number; readonly total: number }

  constructor(screen: Screen, view: RunView, rows: { readonly stored: number; readonly total: number }) {
    this.#screen = screen
    this.#view = view
    this.#rows = rows
    this.#draw()
  }

  /** `rows.stored` has changed. */
  advance(): void {
    // The embedded database leaves little time between two batches: don't spend it on drawing each of them.
    if (performance.now() - this.#drawnAtMs >= FRAME_MS) this.#draw()
  }

  show(view: RunView): void {
    this.#view = view
    this.advance()
  }

  end(view: RunView): void {
    this.#view = view
    this.#draw()
    this.#screen.keep()
  }

  #draw(): void {
    this.#drawnAtMs = performance.now()
    const { stored, total } = this.#rows
    const { dim, green, yellow } = this.#screen.colours
    const paint = isBackwards(this.#view) ? yellow : green
    const loads = this.#view.steps.filter(({ name }) => name.startsWith('load:'))
    const others = this.#view.steps.filter(({ name }) => !name.startsWith('load:'))
    const marks = loads.map(({ state }) => MARKS[state]).join('')
    const states = others.map(({ name, state }) => `${name} ${state}`).join(', ')
    const rows = `${stored.toLocaleString('en')} of ${total.toLocaleString('en')} rows`
    this.#screen.draw([`  ${paint(marks)}  ${rows}  ${dim(`${states}; run ${this.#view.status}`)}`])
  }
}
