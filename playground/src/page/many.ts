import { useState } from 'preact/hooks'
import type { Playground } from './state.ts'

/** How far many runs have come. */
export interface Many {
  readonly of: number
  readonly started: number
  readonly ended: number
  readonly runsPerSecond: number
  readonly stepsPerSecond: number
}

/** As Belay has by default. */
const SLOTS = 50
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

type Tell = (count: Pick<Many, 'ended' | 'runsPerSecond' | 'stepsPerSecond'>) => void

/** Starts many runs whose work takes no time, and counts in SQL once a second until they have ended. */
export function useMany(playground: Playground, slowness: number) {
  const [many, setMany] = useState<Many>()
  const startMany = async (of: number): Promise<void> => {
    playground.slow(0, SLOTS)
    const progress: Progress = { started: 0, isOver: false }
    const begun = await countOf(playground)
    setMany({ of, started: 0, ended: 0, runsPerSecond: 0, stepsPerSecond: 0 })
    const tell: Tell = (count) => setMany({ of, started: progress.started, ...count })
    const starting = startAll(playground, of, progress)
    try {
      // What keeps runs from being started ends the count as well.
      await Promise.all([starting, countUntilEnded(playground, begun, { of, progress, tell })])
    } finally {
      progress.isOver = true
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
  begun: Count,
  { of, progress, tell }: { readonly of: number; readonly progress: Progress; readonly tell: Tell },
): Promise<void> {
  let before = begun
  while (before.ended - begun.ended < of && !progress.isOver) {
    await new Promise((done) => setTimeout(done, EVERY_MS))
    // While the database is cut off there is nothing to count.
    if (playground.state.get().cutUntil !== undefined) continue
    const count = await countOf(playground)
    const seconds = (count.at - before.at) / 1_000
    tell({
      ended: count.ended - begun.ended,
      runsPerSecond: Math.round((count.ended - before.ended) / seconds),
      stepsPerSecond: Math.round((count.steps - before.steps) / seconds),
    })
    before = count
  }
}

async function countOf(playground: Playground): Promise<Count> {
  const [row] = await playground.sql<Omit<Count, 'at'>>(`
    select (select count(*)::int from belay.workflow_runs where finished_at is not null) as ended,
      (select count(*)::int from belay.workflow_steps where status in ('completed', 'compensated')) as steps`)
  return { at: Date.now(), ...row! }
}
