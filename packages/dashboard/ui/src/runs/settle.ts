import type { ListedRun, RunsPage } from '../../../src/api.ts'

/** Runs on one page. */
export const PAGE = 50

export interface Picture {
  /** In the places where they were first shown, as they are now. */
  readonly runs: readonly ListedRun[]
  /** How many more would be shown if the page were asked for now. */
  readonly waiting: number
  /** Shown ones that the filter would leave out now. */
  readonly gone: ReadonlySet<string>
}

/** Updates shown rows in place: none moves, none comes, none goes. */
export function settle(shown: readonly ListedRun[], { runs, more }: RunsPage): Picture {
  const fresh = new Map(runs.map((run) => [run.id, run]))
  const known = new Set(shown.map(({ id }) => id))
  const last = shown.length < PAGE ? '' : shown.at(-1)!.id
  // What is older than the answer's last run may still match.
  const seenDownTo = more ? (runs.at(-1)?.id ?? '') : ''
  return {
    runs: shown.map((run) => fresh.get(run.id) ?? run),
    waiting: runs.filter(({ id }) => !known.has(id) && id > last).length,
    gone: new Set(shown.flatMap(({ id }) => (fresh.has(id) || id < seenDownTo ? [] : [id]))),
  }
}
