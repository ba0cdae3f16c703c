import type { RunDisplay } from '../demonstration/player.ts'
import { wrapped } from '../terminal/fitting.ts'
import { isBackwards, type RunView, type StepState } from '../terminal/run-view.ts'
import type { Screen } from '../terminal/screen.ts'

const MARKS: Readonly<Record<StepState, string>> = {
  waiting: '·',
  running: '▒',
  orphaned: '▒',
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

/** The number of rows that the table holds of the edition under way. */
export class RowCounter {
  stored = 0
  total = 0
  onChange: () => void = () => {}

  begin({ stored, total }: { readonly stored: number; readonly total: number }): void {
    this.stored = stored
    this.total = total
  }

  /** Negative if rows were removed. */
  add(rows: number): void {
    this.stored += rows
    this.onChange()
  }
}

/** One line for a run of many loads: a mark for each chunk, and the row count. */
export class LoadProgress implements RunDisplay {
  #view: RunView
  #drawnAtMs = 0
  readonly #screen: Screen
  readonly #rows: RowCounter

  constructor(screen: Screen, view: RunView, rows: RowCounter) {
    this.#screen = screen
    this.#view = view
    this.#rows = rows
    rows.onChange = () => this.#drawSoon()
    this.#draw()
  }

  show(view: RunView): void {
    this.#view = view
    this.#drawSoon()
  }

  end(view: RunView): void {
    this.#view = view
    this.#rows.onChange = () => {}
    this.#draw()
    this.#screen.keep()
  }

  #drawSoon(): void {
    // The embedded database leaves little time between two batches. So not every batch is drawn.
    if (performance.now() - this.#drawnAtMs >= FRAME_MS) this.#draw()
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
    const rest = dim(`${states}; run ${this.#view.status}`)
    this.#screen.draw(({ columns }) => wrapped(`  ${paint(marks)}  ${rows}  ${rest}`, columns))
  }
}
