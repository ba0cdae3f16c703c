import { useEffect, useState } from 'preact/hooks'
import type { Health } from '../../../src/api.ts'

const KEPT_MAX = 300

type Figures = Pick<Health, 'readAt' | 'overview'>

/** The figures of the last ten minutes that this tab saw, oldest first. They outlive the screen. */
let seen: readonly Figures[] = []

export function useSeen(figures: Figures): readonly Figures[] {
  const [, shown] = useState(0)
  useEffect(() => {
    if (seen.at(-1)?.readAt === figures.readAt) return
    seen = [...seen, figures].slice(-KEPT_MAX)
    shown(seen.length)
  }, [figures.readAt])
  return seen.length === 0 ? [figures] : seen
}
