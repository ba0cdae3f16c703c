import { useState } from 'preact/hooks'
import type { Playground } from './state.ts'

/** How far many runs have come. */
export interface Many {
  readonly of: number
  readonly started: number
  readonly ended: number
  /** Of the last second; undefined once nothing is counted any more. */
  readonly perSecond?: { readonly runs: number; readonly steps: number } | undefined
}

/** As Belay has by default. */
const SLOTS = 50
/** These share a commit. */
const AT_ONCE = 100
const EVERY_MS = 1_000

interface Count {
  readonly at: number
  readonly ended: number
  readonly steps: number
}

interface Progress {
  started: number
  isOver: boolean
}

type Tell = (count: Pick<Many, 'ended' | 'perSecond'>) => void

/** Starts many runs whose work takes no time, and counts in SQL once a second until they have ended. */
export function useMany(playground: Playground, slowness: number) {
  const [many, setMany] = useState<Many>()
  const startMany = async (of: number): Promise<void> => {
    playground.slow(0, SLOTS)
    const progress: Progress = { started: 0, isOver: false }
    const [{ since } = { since: '' }] = await playground.sql<{ since: string }>(
      'select belay.store_now()::text as since',
    )
    const count = () => countOf(playground, since)
    setMany({ of, started: 0, ended: 0 })
    const tell: Tell = (count) => setMany({ of, started: progress.started, ...count })
    const starting = startAll(playground, of, progress)
    try {
      // What keeps runs from being started ends the count as well.
      await Promise.all([starting, countUntilEnded(playground, { of, progress, count, tell })])
    } finally {
      progress.isOver = true
      setMany((last) => last && { ...last, perSecond: undefined })
      playground.slow(slowness)
    }
  }
  return { many, startMany }
}

async function startAll(playground: Playground, of: number, progress: Progress): Promise<void> {
  while (progress.started < of) {
    const count = Math.min(AT_ONCE, of - progress.started)
    await playground.start(count, { isShown: progress.started === 0 })
    progress.started += count
  }
}

async function countUntilEnded(
  playground: Playground,
  {
    of,
    progress,
    count: countNow,
    tell,
  }: {
    readonly of: number
    readonly progress: Progress
    readonly count: () => Promise<Count>
    readonly tell: Tell
  },
): Promise<void> {
  let before = await countNow()
  while (before.ended < of && !progress.isOver) {
    await new Promise((done) => setTimeout(done, EVERY_MS))
    // While the database is cut off there is nothing to count.
    if (playground.state.get().cutUntil !== undefined) continue
    const count = await countNow()
    const seconds = (count.at - before.at) / 1_000
    const rate = (of: 'ended' | 'steps') => Math.round((count[of] - before[of]) / seconds)
    tell({ ended: count.ended, perSecond: { runs: rate('ended'), steps: rate('steps') } })
    before = count
  }
}

/** Of runs that were started since that instant, by the database's clock. Those that were under way before are none of them. */
async function countOf(playground: Playground, since: string): Promise<Count> {
  const [row] = await playground.sql<Omit<Count, 'at'>>(`
    select (select count(*)::int from belay.workflow_runs where finished_at is not null and created_at >= '${since}') as ended,
      (select count(*)::int from belay.workflow_steps where status in ('completed', 'compensated')) as steps`)
  return { at: Date.now(), ...row! }
}
