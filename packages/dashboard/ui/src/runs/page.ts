import { useRef, useState } from 'preact/hooks'
import type { ListedRun, RunsPage } from '../../../src/api.ts'
import { read } from '../api.ts'
import { useLive } from '../live.ts'

export const PAGE = 50
const LIMIT_MAX = 100

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

/** The page of a query string. Newer runs wait until `show` is called. */
export function useRunsPage(search: string) {
  const kept = useRef<{ readonly search: string; readonly picture: Picture } | undefined>(undefined)
  const [, again] = useState(0)
  if (kept.current?.search !== search) kept.current = undefined
  // More is asked for when others wait above, so that the last rows still hear of changes.
  const limit = Math.min(LIMIT_MAX, PAGE + (kept.current?.picture.waiting ?? 0))
  const answer = useLive<RunsPage>(`runs?${search}`, (signal) =>
    read(`runs?${search}${search && '&'}limit=${limit}`, signal),
  )
  const page = answer.data
  const shown = kept.current?.picture.runs
  if (page) {
    const first = shown === undefined || shown.length === 0 ? page.runs.slice(0, PAGE) : shown
    kept.current = { search, picture: settle(first, page) }
  }
  const show = () => {
    kept.current = undefined
    again((count) => count + 1)
  }
  return { ...answer, picture: kept.current?.picture, show }
}
