import { useRef, useState } from 'preact/hooks'
import type { RunsPage } from '../../../src/api.ts'
import { read } from '../api.ts'
import { useLive } from '../live.ts'
import { PAGE, type Picture, settle } from './settle.ts'

const LIMIT_MAX = 100

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
