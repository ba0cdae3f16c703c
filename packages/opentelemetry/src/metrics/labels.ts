import type { Label } from './instruments.ts'

/** The labels of one series. Only those of its instrument. */
export type Labels = Readonly<Partial<Record<Label, string>>>

/** One value of a counter or a gauge. */
export interface Measurement {
  readonly labels: Labels
  readonly value: number
}

const VALUES_MAX = 500

/** What stands for all further values of a label. */
const OTHER = 'other'

const boundsOf = new WeakMap<object, LabelBounds>()

/**
 * Keeps the number of series bounded: the first 500 values of each label are themselves, all further ones are `other`. A value that was let in
 * once stays itself, so a series never changes its name.
 */
export class LabelBounds {
  readonly #values = new Map<Label, Set<string>>()
  readonly #warned = new Set<Label>()
  readonly #warn: (message: string) => void

  private constructor(warn: (message: string) => void) {
    this.#warn = warn
  }

  /** The bounds of everything that goes to one meter or register. */
  static of(destination: object, warn: (message: string) => void): LabelBounds {
    return kept(boundsOf, destination, () => new LabelBounds(warn))
  }

  /** The value itself, or `other`. */
  of(label: Label, value: string): string {
    const values = kept(this.#values, label, () => new Set())
    if (values.has(value)) return value
    if (values.size < VALUES_MAX) {
      values.add(value)
      return value
    }
    if (!this.#warned.has(label)) {
      this.#warned.add(label)
      this.#warn(
        `Belay's metrics have ${VALUES_MAX} values of the label "${label}". All further ones are counted together as "${OTHER}".`,
      )
    }
    return OTHER
  }
}

/** What the map has under this key; made and put there if it has nothing. */
export function kept<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
