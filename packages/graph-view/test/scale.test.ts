import { describe, expect, it } from 'vitest'
import {
  age,
  barOf,
  clockText,
  drawStrip,
  fitText,
  glyph,
  safeText,
  span,
  svgText,
  ticksOf,
  timeScale,
  zoneText,
} from '../src/index.ts'
import { randomOf } from './random.ts'

const T = Date.UTC(2026, 9, 25, 0, 0)
const HOUR = 3_600_000
const axis = { startAt: T, left: 100, width: 1000, fold: true }
const between = (from: number, to: number) => ({ startAt: T + from, endAt: T + to })

describe('the time axis', () => {
  it('folds the time in which nothing happens', () => {
    const { segments } = timeScale([between(0, 1000), between(5 * HOUR, 5 * HOUR + 1000)], {
      ...axis,
      endAt: T + 5 * HOUR + 1000,
    })
    expect(segments.map(({ fold }) => fold)).toEqual([false, true, false])
    expect(segments[1]!.width).toBe(96)
    expect(segments.at(-1)!.x + segments.at(-1)!.width).toBeCloseTo(1100)
  })

  it('finds the instant at each of its pixels, in 200 random runs', () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = randomOf(seed)
      const spans = Array.from({ length: 1 + Math.floor(random() * 30) }, () => {
        const from = random() ** 4 * 90 * HOUR
        return between(from, from + random() ** 6 * HOUR)
      })
      const scale = timeScale(spans, { ...axis, endAt: T + 91 * HOUR })
      const pixels = Array.from({ length: 50 }, (_, index) => 100 + index * 20)
      for (const x of pixels) expect(scale.x(scale.at(x)), `seed ${seed}`).toBeCloseTo(x, 1)
      expect(scale.segments.every(({ width }) => width > 0)).toBe(true)
      const { startAt, endAt } = spans[0]!
      expect(barOf(scale, startAt, endAt).width).toBeGreaterThanOrEqual(2.5)
    }
  })

  it('has no bar outside of it', () => {
    const scale = timeScale([], { ...axis, endAt: T + HOUR })
    const { x, width } = barOf(scale, T + HOUR, T + HOUR)
    expect([x, width]).toEqual([1097.5, 2.5])
  })

  it('has ticks on round local times, also where the clocks change', () => {
    const ticks = (hours: number, zone: string) =>
      ticksOf(timeScale([], { ...axis, fold: false, endAt: T + hours * HOUR }), { zone })
    expect(
      ticks(10, 'Asia/Kolkata')
        .map(({ label }) => label)
        .slice(0, 3),
    ).toEqual(['06:00', '07:00', '08:00'])
    expect(ticks(24 * 6, 'Europe/Zurich').map(({ label }) => label)).toEqual([
      '26 Oct',
      '27 Oct',
      '28 Oct',
      '29 Oct',
      '30 Oct',
      '31 Oct',
    ])
    expect(ticks(0.5 / 3600, 'UTC').at(-1)!.label).toBe('00:00:00.50')
    const labels = ticks(30, 'Europe/Zurich').map(({ label }) => label)
    expect(labels).toEqual(['06:00', '12:00', '18:00', '26 Oct', '06:00'])
  })

  it('names the day where it changes in a fold', () => {
    const scale = timeScale([between(0, 60_000), between(30 * HOUR, 30 * HOUR + 60_000)], {
      ...axis,
      endAt: T + 30 * HOUR + 60_000,
    })
    const labels = ticksOf(scale, { zone: 'UTC' }).map(({ label }) => label)
    expect(labels.filter((label) => label.startsWith('26 Oct'))).toEqual(['26 Oct 06:00'])
  })
})

it('writes durations, times and zones', () => {
  const lengths = [0, 420, 999.6, 4600, 34_000, 125_000, 749_000, 751_000, 3_599_000, 11_520_000]
  const written = [...lengths, 86_399_000, 358_000_000].map(span)
  expect(written).toEqual([
    '0 ms',
    '420 ms',
    '1 s',
    '4.6 s',
    '34 s',
    '2 min 5 s',
    '12 min',
    '13 min',
    '1 h',
    '3 h 12 min',
    '1 d',
    '4 d 3 h',
  ])
  expect([0, 873, 4_600, 61_900].map(age)).toEqual(['0 s', '0 s', '4 s', '1 min 1 s'])
  expect(clockText(T, 'Europe/Zurich')).toBe('02:00:00')
  expect(zoneText(T + 24 * HOUR, 'Europe/Zurich')).toBe('CET')
  expect(() => clockText(T, 'Nowhere/Land')).toThrow(RangeError)
})

it('cuts between graphemes, and fast', () => {
  expect(fitText('short', 100)).toBe('short')
  expect(fitText('👩‍👩‍👧‍👦'.repeat(50), 100)).toMatch(/^(👩‍👩‍👧‍👦)+…$/)
  expect(fitText('x'.repeat(1e7), 100)).toMatch(/^x+…$/)
  expect(safeText('a\u0000b\u202ec')).toBe('a\ufffdb\ufffdc')
})

it('draws a strip with a shape for each state, and 10,000 steps in its width', () => {
  const statuses = [
    'completed',
    'compensated',
    'compensating',
    'compensation_failed',
    'failed',
    'skipped',
    'ready',
    'waiting',
    'pending',
    'running',
  ] as const
  const steps = statuses.map((status) => ({
    status,
    ...(status === 'running' ? { items: { total: 10, ended: 4, failed: 1 } } : {}),
  }))
  const strip = drawStrip(steps, 140)
  expect(strip.label).toBe('4 of 10 steps completed, 1 failed, 1 undone, 1 to undo, 1 parked')
  expect(svgText(strip, { label: strip.label })).toMatchInlineSnapshot(`
    "<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 140 18" width="140" height="18" role="img" aria-label="4 of 10 steps completed, 1 failed, 1 undone, 1 to undo, 1 parked"><g class="belay strip"><rect class="cell s-completed" x="0" y="1" width="10.7" height="7" rx="1"></rect><rect class="cell s-completed" x="12.7" y="1" width="10.7" height="7" rx="1"></rect><rect class="cell s-undone" x="12.7" y="11" width="10.7" height="4" rx="1"></rect><rect class="cell s-completed" x="25.4" y="1" width="10.7" height="7" rx="1"></rect><path class="cell s-undoing" d="M25.4 13l4-3.2h6.7v6.4h-6.7z"></path><rect class="cell s-completed" x="38.1" y="1" width="10.7" height="7" rx="1"></rect><path class="cell s-parked" d="M43.5 8.9l4.2 4.2-4.2 4.2-4.2-4.2z"></path><rect class="cell s-failed" x="50.8" y="0" width="10.7" height="9" rx="1"></rect><path class="cell-cross" d="M54 2.3l4.4 4.4m0-4.4l-4.4 4.4"></path><path class="dashes s-skipped" d="M63.5 4.5h10.7"></path><rect class="outline s-ready" x="77" y="1.8" width="9.2" height="5.5" rx="1"></rect><circle class="cell s-waiting" cx="91.1" cy="4.5" r="1.5"></circle><circle class="cell s-waiting" cx="94.3" cy="4.5" r="1.5"></circle><circle class="cell s-waiting" cx="97.4" cy="4.5" r="1.5"></circle><rect class="cell none" x="101.6" y="3.5" width="10.7" height="2" rx="1"></rect><rect class="cell none" x="114.3" y="3.5" width="25.7" height="2" rx="1"></rect><rect class="cell s-completed" x="114.3" y="1" width="7.7" height="7" rx="1"></rect><rect class="cell s-failed" x="122" y="0" width="2.6" height="9" rx="1"></rect><rect class="cell s-running" x="124.6" y="1" width="3" height="7" rx="1"></rect></g></svg>
    "
  `)
  const many = drawStrip(
    Array.from(
      { length: 10_000 },
      (_, index) => ({ status: index === 5000 ? 'failed' : 'completed' }) as const,
    ),
    140,
  )
  const text = svgText(many, { label: many.label })
  expect(text.length).toBeLessThan(5000)
  expect(text).toContain('s-failed')
  expect(glyph('parked', 3.06).attributes['transform']).toBe('translate(3.1 0)')
})
