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

/** `signal` ends it, and `tell` changes what is shown. */
interface Going {
  readonly of: number
  readonly signal: AbortSignal
  readonly tell: (change: Partial<Many>) => void
}

/** Starts many runs whose work takes no time, and counts in SQL once a second until they have ended. */
export function useMany(playground: Playground, slowness: number) {
  const [many, setMany] = useState<Many>()
  const startMany = async (of: number): Promise<void> => {
    const over = new AbortController()
    const tell = (change: Partial<Many>) => setMany((last) => last && { ...last, ...change })
    const going: Going = { of, signal: over.signal, tell }
    setMany({ of, started: 0, ended: 0 })
    playground.slow(0, SLOTS)
    try {
      const [now] = await playground.sql<{ since: string }>('select belay.store_now()::text as since')
      // What keeps runs from being started ends the count as well, and the other way round.
      await Promise.all([startAll(playground, going), countUntilEnded(playground, now!.since, going)])
    } finally {
      over.abort()
      tell({ perSecond: undefined })
      playground.slow(slowness)
    }
  }
  return { many, startMany }
}

async function startAll(playground: Playground, { of, signal, tell }: Going): Promise<void> {
  for (let started = 0; started < of && !signal.aborted; ) {
    const count = Math.min(AT_ONCE, of - started)
    await playground.start(count, { isShown: started === 0 })
    started += count
    tell({ started })
  }
}

async function countUntilEnded(
  playground: Playground,
  since: string,
  { of, signal, tell }: Going,
): Promise<void> {
  let before = await countOf(playground, since)
  while (before.ended < of && !signal.aborted) {
    await new Promise((done) => setTimeout(done, EVERY_MS))
    // While the database is cut off there is nothing to count.
    if (playground.state.get().cutUntil !== undefined) continue
    const count = await countOf(playground, since)
    if (signal.aborted) return
    const perSecond = (what: 'ended' | 'steps') =>
      Math.round(((count[what] - before[what]) * 1_000) / (count.at - before.at))
    tell({ ended: count.ended, perSecond: { runs: perSecond('ended'), steps: perSecond('steps') } })
    before = count
  }
}

interface Count {
  readonly at: number
  readonly ended: number
  readonly steps: number
}

/** The runs that were started since that instant, by the database's clock: those that were under way before are none of them. */
async function countOf(playground: Playground, since: string): Promise<Count> {
  const [row] = await playground.sql<Omit<Count, 'at'>>(`
    select (select count(*)::int from belay.workflow_runs where finished_at is not null and created_at >= '${since}') as ended,
      (select count(*)::int from belay.workflow_steps where status in ('completed', 'compensated')) as steps`)
  return { at: Date.now(), ...row! }
}
