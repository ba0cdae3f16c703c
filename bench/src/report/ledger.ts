/** One row of the report: one value for each round, or more where the row says so. */
export interface Figure {
  readonly section: string
  readonly name: string
  readonly unit: string
  readonly values: readonly number[]
  /** The values as multiples of the reference measured right before each; empty where that is meaningless. */
  readonly ratios: readonly number[]
}

/** A bar of the chart: steps per second as multiples of the reference. */
export interface Bar {
  readonly group: string
  readonly label: string
  readonly ratios: readonly number[]
  readonly isBelay: boolean
}

export interface NewFigure {
  readonly unit: string
  readonly value: number
  /** The reference measured right before, in updates per second. */
  readonly reference?: number
  /** Also shows the figure in the chart, under this group. */
  readonly bar?: string
}

/** Collects what the sections measure, round by round, in the order of first mention. */
export class Ledger {
  readonly notes: string[] = []
  readonly appendices: string[] = []
  /** What could not be measured, and why. */
  readonly failures: string[] = []
  readonly #figures = new Map<string, Figure & { values: number[]; ratios: number[] }>()
  readonly #bars = new Map<string, Bar & { ratios: number[] }>()

  get figures(): readonly Figure[] {
    return [...this.#figures.values()]
  }

  get bars(): readonly Bar[] {
    return [...this.#bars.values()]
  }

  add(section: string, name: string, { unit, value, reference, bar }: NewFigure): void {
    const id = `${section}/${name}/${unit}`
    const figure = this.#figures.get(id) ?? { section, name, unit, values: [], ratios: [] }
    this.#figures.set(id, figure)
    figure.values.push(value)
    if (reference === undefined) return
    figure.ratios.push(value / reference)
    if (bar !== undefined) this.addBar({ group: bar, label: name, ratio: value / reference, isBelay: true })
  }

  addBar({ ratio, ...given }: Omit<Bar, 'ratios'> & { readonly ratio: number }): void {
    const id = `${given.group}/${given.label}`
    const bar = this.#bars.get(id) ?? { ...given, ratios: [] }
    this.#bars.set(id, bar)
    bar.ratios.push(ratio)
  }

  /** Adds a sentence below the table, once. */
  note(sentence: string): void {
    if (!this.notes.includes(sentence)) this.notes.push(sentence)
  }
}
