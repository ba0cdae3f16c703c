import type { ViewRun } from '@belay/graph-view'

const RUNS_MAX = 200

type Steps = ViewRun['steps']

/** The steps of a run as one reading found them, each with the number of the reading that first found it so. */
export interface Revision {
  readonly number: number
  /** The first reading that this one can be compared with. */
  readonly first: number
  readonly steps: ReadonlyMap<string, { readonly text: string; readonly since: number }>
}

/** What has changed between readings of the same run: a large one that is looked at is sent whole only once. */
export class Revisions {
  /** Readings of another process cannot be compared with these. */
  readonly #process = globalThis.crypto.randomUUID().slice(0, 8)
  readonly #newest = new Map<string, Revision>()
  #readings = 0

  /** Takes a reading. `key` names the run and who may see it so. */
  next(key: string, steps: Steps): Revision {
    this.#readings += 1
    const number = this.#readings
    const before = this.#newest.get(key)
    // A run that was migrated has other steps.
    const isSame = before?.steps.size === steps.length && steps.every(({ name }) => before.steps.has(name))
    const revision = {
      number,
      first: isSame ? before.first : number,
      steps: new Map(steps.map((step) => [step.name, sinceWhen(step, number, before)])),
    }
    this.#newest.delete(key)
    this.#newest.set(key, revision)
    for (const oldest of this.#newest.keys()) {
      if (this.#newest.size <= RUNS_MAX) break
      this.#newest.delete(oldest)
    }
    return revision
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
