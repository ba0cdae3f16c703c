import type { ViewRun } from '@belay/graph-view'

/** Characters of steps that are kept, of all runs: beyond, the runs that were looked at longest ago are sent whole again. */
const CHARS_MAX = 32 * 1024 * 1024
/** A run that nobody looks at any more is forgotten. */
const UNSEEN_MS = 10 * 60_000

type Steps = ViewRun['steps']

/** The steps of a run as one reading found them, each with the number of the reading that first found it so. */
export interface Revision {
  readonly number: number
  /** The first reading that this one can be compared with. */
  readonly first: number
  readonly steps: ReadonlyMap<string, { readonly text: string; readonly since: number }>
  readonly chars: number
  readonly at: number
}

/** What has changed between readings of the same run: a large one that is looked at is sent whole only once. */
export class Revisions {
  /** Readings of another process cannot be compared with these. */
  readonly #process = globalThis.crypto.randomUUID().slice(0, 8)
  readonly #newest = new Map<string, Revision>()
  readonly #now: () => number
  #readings = 0
  #chars = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Takes a reading. `key` names the run by its id, and who may see it so. */
  next(key: string, steps: Steps): Revision {
    this.#readings += 1
    const number = this.#readings
    const before = this.#newest.get(key)
    // A run that was migrated has other steps.
    const isSame = before?.steps.size === steps.length && steps.every(({ name }) => before.steps.has(name))
    const kept = new Map(steps.map((step) => [step.name, sinceWhen(step, number, before)]))
    const chars = [...kept.values()].reduce((sum, { text }) => sum + text.length, 0)
    const revision = { number, first: isSame ? before.first : number, steps: kept, chars, at: this.#now() }
    this.#forget(key)
    this.#newest.set(key, revision)
    this.#chars += chars
    this.#forgetOld(key)
    return revision
  }

  #forgetOld(newest: string): void {
    for (const [key, { at }] of this.#newest) {
      const isUnseen = at < this.#now() - UNSEEN_MS
      if (key === newest || (this.#chars <= CHARS_MAX && !isUnseen)) return
      this.#forget(key)
    }
  }

  #forget(key: string): void {
    this.#chars -= this.#newest.get(key)?.chars ?? 0
    this.#newest.delete(key)
  }

  nameOf({ number }: Revision): string {
    return `${this.#process}.${number}`
  }

  /** The steps that differ from what was seen; undefined if that is not known. */
  changed(steps: Steps, revision: Revision, seen: string): Steps | undefined {
    const [process, number] = seen.split('.')
    const at = Number(number)
    if (process !== this.#process || !(at >= revision.first && at <= revision.number)) return undefined
    return steps.filter(({ name }) => revision.steps.get(name)!.since > at)
  }
}

function sinceWhen(step: Steps[number], number: number, before: Revision | undefined) {
  const text = JSON.stringify(step)
  const known = before?.steps.get(step.name)
  return known?.text === text ? known : { text, since: number }
}
