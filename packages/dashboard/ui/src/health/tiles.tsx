import { glyphOf } from '@belay/graph-view'
import { Link } from 'wouter'
import type { Health, Overview } from '../../../src/api.ts'
import { Glyph } from '../glyph.tsx'
import { LIVE, wordOf } from '../status.ts'
import { capped, instant, span } from '../words.ts'
import { useSeen } from './seen.ts'
import { Spark } from './spark.tsx'

const HOUR_MS = 3_600_000

/** Four figures, and how they went: the runs in the last hour, of which rows tell, the others since this tab looks at them. */
export function Tiles({ health }: { readonly health: Health }) {
  const seen = useSeen(health)
  const { overview, lastMinute, lastHour, readAt } = health
  const { ready, parkedUndos } = overview
  const tile = { since: seen[0]!.readAt, until: readAt }
  return (
    <section class="tiles" aria-label="Figures">
      <Tile
        {...tile}
        name="Ready steps"
        value={capped(ready)}
        figures={seen.map((one) => one.overview.ready.count)}
      />
      <Tile
        {...tile}
        name="Oldest ready step"
        value={ready.count === 0 ? 'none' : span(ready.oldestAgeMs)}
        figures={seen.map((one) => one.overview.ready.oldestAgeMs)}
      />
      <Tile
        since={readAt - HOUR_MS}
        until={readAt}
        name="Runs ended in a minute"
        value={capped(lastMinute.ended)}
        beside={`${capped(lastMinute.started)} started`}
        figures={[...lastHour, lastMinute.ended.count]}
      />
      <Tile
        {...tile}
        name="Parked undos"
        value={capped(parkedUndos)}
        figures={seen.map((one) => one.overview.parkedUndos.count)}
        looks={parkedUndos.count > 0 ? 's-parked' : undefined}
      />
      <Statuses overview={overview} />
    </section>
  )
}

interface TileProps {
  readonly name: string
  readonly value: string
  /** In small, beside the value. */
  readonly beside?: string
  readonly figures: readonly number[]
  readonly looks?: string | undefined
  readonly since: number
  readonly until: number
}

function Tile({ name, value, beside, figures, looks = 's-ink', since, until }: TileProps) {
  return (
    <div>
      <h2>{name}</h2>
      <p class="value">
        {value} {beside && <small>{beside}</small>}
      </p>
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
