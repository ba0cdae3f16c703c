const formats = new Map<string, Intl.DateTimeFormat>()

/** Making a format takes longer than a thousand uses of it. */
function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`
  const made =
    formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options })
  formats.set(key, made)
  return made
}

const TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const

/** `14:02:11`. Throws a RangeError for an unknown zone. */
export function clockText(at: number, zone: string): string {
  return formatOf(zone, TIME).format(at)
}

/** `14:02`. */
export function minuteText(at: number, zone: string): string {
  return formatOf(zone, { hour: '2-digit', minute: '2-digit' }).format(at)
}

/** `24 Nov`. */
export function dayText(at: number, zone: string): string {
  return formatOf(zone, { day: 'numeric', month: 'short' }).format(at)
}

/** `24 Nov 2026, 14:02:11`. */
export function dateText(at: number, zone: string): string {
  return formatOf(zone, { day: 'numeric', month: 'short', year: 'numeric', ...TIME }).format(at)
}

/** `CET`, `GMT+5:30`, `UTC`. */
export function zoneText(at: number, zone: string): string {
  const parts = formatOf(zone, { hour: '2-digit', timeZoneName: 'short' }).formatToParts(at)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone
}

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
export function offsetMs(at: number, zone: string): number {
  const format = formatOf(zone, { year: 'numeric', month: 'numeric', day: 'numeric', ...TIME })
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  return local - Math.floor(at / 1000) * 1000
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A length of time, rounded to the smallest unit that is shown: `420 ms`, `4.6 s`, `34 s`, `2 min 5 s`, `12 min`, `3 h 12 min`, `4 d 2 h`. */
export function span(ms: number): string {
  const whole = Math.max(0, ms)
  if (whole < 999.5) return `${Math.round(whole)} ms`
  if (whole < 9950) return `${Math.round(whole / 100) / 10} s`
  const seconds = Math.round(whole / SECOND)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 600) return two(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(whole / MINUTE)
  if (minutes < 60) return `${minutes} min`
  if (minutes < 24 * 60) return two(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(whole / HOUR)
  return two(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

/** How long ago something was, in whole seconds: `0 s`, never `873 ms`. */
export function age(ms: number): string {
  return ms < SECOND ? '0 s' : span(Math.floor(ms / SECOND) * SECOND)
}

function two(large: number, unit: string, small: number, smaller: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`
}

/** `1 item`, `12 items`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en-GB')} ${noun}${count === 1 ? '' : 's'}`
}
