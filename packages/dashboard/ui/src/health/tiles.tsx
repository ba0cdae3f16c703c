import { glyphOf } from '@belay/graph-view'
import { Link } from 'wouter'
import type { Overview } from '../../../src/api.ts'
import { Glyph } from '../glyph.tsx'
import { LIVE, wordOf } from '../status.ts'
import { capped, instant, span } from '../words.ts'
import { useSeen } from './seen.ts'
import { Spark } from './spark.tsx'

/** Four figures, and how they went since this tab looks at them. */
export function Tiles({ overview }: { readonly overview: Overview }) {
  const seen = useSeen(overview)
  const { ready, parkedUndos } = overview
  const tile = { since: seen[0]!.readAt, until: overview.readAt }
  const runs = seen.map((one) => sum(one))
  const live = { count: sum(overview), capped: Object.values(overview.liveRuns).some((one) => one.capped) }
  return (
    <section class="tiles" aria-label="Figures">
      <Tile {...tile} name="Ready steps" value={capped(ready)} figures={seen.map((one) => one.ready.count)} />
      <Tile
        {...tile}
        name="Oldest ready step"
        value={ready.count === 0 ? 'none' : span(ready.oldestAgeMs)}
        figures={seen.map((one) => one.ready.oldestAgeMs)}
      />
      <Tile {...tile} name="Live runs" value={capped(live)} figures={runs} />
      <Tile
        {...tile}
        name="Parked undos"
        value={capped(parkedUndos)}
        figures={seen.map((one) => one.parkedUndos.count)}
        looks={parkedUndos.count > 0 ? 's-parked' : undefined}
      />
      <Statuses overview={overview} />
    </section>
  )
}

function sum({ liveRuns }: Overview): number {
  return Object.values(liveRuns).reduce((total, { count }) => total + count, 0)
}

interface TileProps {
  readonly name: string
  readonly value: string
  readonly figures: readonly number[]
  readonly looks?: string | undefined
  readonly since: number
  readonly until: number
}

function Tile({ name, value, figures, looks = 's-ink', since, until }: TileProps) {
  return (
    <div>
      <h2>{name}</h2>
      <p class="value">{value}</p>
      <Spark figures={figures} looks={looks} />
      <p class="ends">
        <span>{instant(since, until)}</span>
        <span>{instant(until, until)}</span>
      </p>
    </div>
  )
}

function Statuses({ overview: { liveRuns } }: { readonly overview: Overview }) {
  const shown = LIVE.filter((status) => (liveRuns[status]?.count ?? 0) > 0)
  if (shown.length === 0) return null
  return (
    <p class="by-status">
      {shown.map((status) => (
        <Link key={status} href={`/runs?status=${status}`}>
          <Glyph state={glyphOf(status)} />
          {capped(liveRuns[status]!)} {wordOf(status).toLowerCase()}
        </Link>
      ))}
    </p>
  )
}
