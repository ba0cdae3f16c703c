import { useEffect, useState } from 'preact/hooks'
import type { Overview } from '../../../src/api.ts'

const KEPT_MAX = 300

/** The overviews of the last ten minutes that this tab saw, oldest first. They outlive the screen. */
let seen: readonly Overview[] = []

export function useSeen(overview: Overview): readonly Overview[] {
  const [, shown] = useState(0)
  useEffect(() => {
    if (seen.at(-1)?.readAt === overview.readAt) return
    seen = [...seen, overview].slice(-KEPT_MAX)
    shown(seen.length)
  }, [overview.readAt])
  return seen.length === 0 ? [overview] : seen
}
