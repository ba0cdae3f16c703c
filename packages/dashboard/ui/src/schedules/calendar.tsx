import { type GlyphState, glyph } from '@belay/graph-view'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ListedSchedule, SchedulesPage } from '../../../src/api/schedules.ts'
import { elementOf } from '../drawn.tsx'
import { Glyph } from '../glyph.tsx'
import { useWidth } from '../run/use-width.ts'
import { counted } from '../words.ts'
import { FIRED, isLate, zoneOf } from './timing.tsx'
import { pageZone, wallOf, wallText } from './zoned.ts'

const ROW = 34
const TOP = 30
const NARROW = 640
const LETTER = 6.9

/** Where an instant stands, and how high all is. */
interface Sheet extends Pick<SchedulesPage, 'from' | 'until'> {
  readonly x: (at: number) => number
  readonly left: number
  readonly right: number
  readonly height: number
  readonly now: number
  readonly isNarrow: boolean
}

/** Firings from twelve hours ago to two days ahead. Its hours are those of the page’s zone; each mark tells its schedule’s time too. */
export function Calendar({ page }: { readonly page: SchedulesPage }) {
  const [host, width] = useWidth()
  const { schedules, from, until, readAt: now } = page
  const isNarrow = width < NARROW
  const [left, right] = [isNarrow ? 104 : 190, width - 14]
  const x = (at: number) => left + ((right - left) * (at - from)) / (until - from)
  const height = TOP + schedules.length * ROW
  const sheet: Sheet = { from, until, x, left, right, height, now, isNarrow }
  return (
    <>
      <div class="calendar" ref={host}>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          role="img"
          aria-label={told(page)}
        >
          <rect class="gone-by" x={left} y={22} width={x(now) - left} height={height - 22} />
          <Hours sheet={sheet} />
          {schedules.map((one, index) => (
            <Line key={one.name} schedule={one} y={TOP + index * ROW} sheet={sheet} />
          ))}
          <path class="now" d={`M${x(now)} 4V${height}`} />
          <text class="axis now-text" x={x(now) + 5} y={15}>
            now {wallOf(now, pageZone()).time.slice(0, 5)}
          </text>
        </svg>
      </div>
      <Legend />
    </>
  )
}

function told({ schedules, readAt, from, until }: SchedulesPage): string {
  const lines = schedules.map((one) => {
    const parts = [
      counted(one.past.filter(({ status }) => status === 'started').length, 'firing'),
      ...one.past.flatMap(({ status }) => (status === 'started' ? [] : FIRED[status][1].toLowerCase())),
      ...(isLate(one, readAt) ? ['late'] : []),
      `${one.ahead.length}${one.aheadUntil === undefined ? '' : ' or more'} to come`,
    ]
    return `${one.name}: ${parts.join(', ')}`
  })
  const zone = pageZone()
  return `Firings from ${wallText(from, zone)} to ${wallText(until, zone)}. ${lines.join('. ')}`
}

const QUARTER_MS = 900_000

/** Each sixth hour of the page’s zone, and each day: also where a day has 23 or 25 hours, or begins at one. */
function Hours({ sheet: { from, until, x, now, height, isNarrow } }: { readonly sheet: Sheet }) {
  const zone = pageZone()
  const quarter = Math.ceil(from / QUARTER_MS)
  const ticks = useMemo(() => ticksFrom(quarter * QUARTER_MS, until, zone), [quarter, zone])
  const isClear = (at: number) => x(at) < x(now) - 30 || x(at) > x(now) + 100
  return (
    <>
      {ticks.map(({ at, isDay, words }) => (
        <g key={at}>
          <path class={isDay ? 'day' : 'hour'} d={`M${x(at)} 22V${height}`} />
          {isClear(at) && (isDay || !isNarrow) && (
            <text class="axis" x={x(at)} y={15} text-anchor="middle">
              {words}
            </text>
          )}
        </g>
      ))}
    </>
  )
}

interface Tick {
  readonly at: number
  readonly isDay: boolean
  readonly words: string
}

function ticksFrom(from: number, until: number, zone: string): readonly Tick[] {
  const ticks: Tick[] = []
  let before: { readonly day: string; readonly part: number } | undefined
  for (let at = from; at < until; at += QUARTER_MS) {
    const { day, time } = wallOf(at, zone)
    const part = Math.floor(Number(time.slice(0, 2)) / 6)
    const isDay = before !== undefined && before.day !== day
    if (isDay || (before !== undefined && part > before.part)) {
      ticks.push({ at, isDay, words: isDay ? day : time })
    }
    before = { day, part }
  }
  return ticks
}

interface MarkProps {
  readonly schedule: ListedSchedule
  readonly y: number
  readonly sheet: Sheet
}

function Line({ schedule, y, sheet }: MarkProps) {
  const { name, past, ahead, aheadUntil, pastFrom, status, nextAt } = schedule
  const { until, x, left, right, now, isNarrow } = sheet
  const middle = y + ROW / 2 - 1
  const isPaused = status === 'paused'
  const late = isLate(schedule, now) ? nextAt : undefined
  const hasMissed = past.some(({ status }) => status === 'missed')
  const troubles = isNarrow ? '' : late !== undefined ? 'late' : hasMissed ? 'missed' : ''
  return (
    <g>
      <path class="hour" d={`M0 ${y + ROW - 2}H${right + 14}`} />
      <text class="name" x={4} y={middle + 4}>
        <title>{name}</title>
        {shortened(name, left - troubles.length * LETTER - (isPaused ? 20 : 0))}
        {troubles && (
          <tspan class="trouble" dx={8}>
            {troubles}
          </tspan>
        )}
      </text>
      {pastFrom !== undefined && <path class="more" d={`M${left} ${middle}H${x(pastFrom)}`} />}
      {aheadUntil !== undefined && (
        <path class="more" d={`M${x(Math.max(now, aheadUntil))} ${middle}H${x(until)}`} />
      )}
      <Ahead schedule={schedule} times={ahead.filter((at) => at > now)} y={middle} sheet={sheet} />
      {past.map((firing) => (
        <Past key={firing.sequence} firing={firing} schedule={schedule} y={middle} sheet={sheet} />
      ))}
      {late !== undefined && (
        <g class="s-failed">
          <path class="more" d={`M${Math.max(left, x(late))} ${middle}H${x(now)}`} />
          <Sign state="scheduled" at={Math.max(left + 7, x(late))} y={middle}>
            late: due since {wallText(late, zoneOf(schedule))}
          </Sign>
        </g>
      )}
      {isPaused && (
        <Sign state="paused" at={left - 12} y={middle}>
          paused
        </Sign>
      )}
    </g>
  )
}

function shortened(name: string, left: number): string {
  const max = Math.floor((left - 10) / LETTER)
  return name.length <= max ? name : `${name.slice(0, max - 1)}…`
}

function Ahead({ schedule, times, y, sheet: { x } }: MarkProps & { readonly times: readonly number[] }) {
  return (
    <>
      {times.map((at) => (
        <rect
          key={at}
          class={schedule.status === 'paused' ? 'ahead paused' : 'ahead'}
          x={x(at) - 1.5}
          y={y - 7.5}
          width={3}
          height={15}
          rx={1}
        >
          <title>will fire {wallText(at, zoneOf(schedule))}</title>
        </rect>
      ))}
    </>
  )
}

function Past({
  firing: { at, untilAt, status },
  schedule,
  y,
  sheet: { x, left },
}: MarkProps & { readonly firing: ListedSchedule['past'][number] }) {
  const [state, word] = FIRED[status]
  const words = `${word.toLowerCase()} ${wallText(at, zoneOf(schedule))}`
  if (status === 'started') {
    return (
      <rect class="fired" x={x(at) - 2} y={y - 8} width={4} height={16} rx={1}>
        <title>{words}</title>
      </rect>
    )
  }
  const begin = Math.max(left + 7, x(at))
  return (
    <g>
      {untilAt !== undefined && untilAt > at && <path class="more" d={`M${begin} ${y}H${x(untilAt)}`} />}
      <Sign state={state} at={begin} y={y}>
        {words}
      </Sign>
    </g>
  )
}

interface SignProps {
  readonly state: GlyphState
  readonly at: number
  readonly y: number
  readonly children: ComponentChildren
}

function Sign({ state, at, y, children }: SignProps) {
  return (
    <g>
      <title>{children}</title>
      {elementOf(glyph(state, at - 7, y - 7))}
    </g>
  )
}

const SIGNS: readonly (readonly [GlyphState, string])[] = [
  ['scheduled', 'late: fires as soon as a worker runs'],
  ['cancelled', 'missed'],
  ['skipped', 'skipped: an earlier run was live'],
  ['failed', 'failed'],
  ['paused', 'paused'],
]

function Legend() {
  return (
    <ul class="marks">
      <li>
        <svg width={12} height={16} aria-hidden="true">
          <rect class="fired" x={4} width={4} height={16} rx={1} />
        </svg>
        fired
      </li>
      <li>
        <svg width={12} height={16} aria-hidden="true">
          <rect class="ahead" x={4.5} y={0.7} width={3} height={14.6} rx={1} />
        </svg>
        will fire
      </li>
      {SIGNS.map(([state, words]) => (
        <li key={state}>
          <Glyph state={state} /> {words}
        </li>
      ))}
    </ul>
  )
}
