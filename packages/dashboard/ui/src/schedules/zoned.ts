import { zone } from '../settings.ts'

/** The zone in which all times of the page stand. */
export function pageZone(): string {
  return zone.get() === 'UTC' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
}

const formats = new Map<string, Intl.DateTimeFormat | undefined>()

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  if (!formats.has(timeZone)) formats.set(timeZone, made(timeZone))
  return formats.get(timeZone)
}

/** Undefined for a zone that this browser does not know. */
function made(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'shortOffset',
    })
  } catch {
    return undefined
  }
}

export interface Wall {
  /** `Sun 29 Mar`. */
  readonly day: string
  readonly year: string
  /** `03:00`, with seconds where there are some. */
  readonly time: string
  /** `GMT+2`: two clocks that show the same hour twice differ in it. */
  readonly offset: string
}

/** What a clock on the wall of that zone shows. UTC for a zone that this browser does not know, which the offset says. */
export function wallOf(at: number, timeZone: string): Wall {
  const format = formatOf(timeZone) ?? formatOf('UTC')!
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const { weekday, day, month, year = '', hour, minute, second, timeZoneName = '' } = parts
  return {
    day: `${weekday} ${day} ${month}`,
    year,
    time: `${hour}:${minute}${second === '00' ? '' : `:${second}`}`,
    offset: timeZoneName,
  }
}

/** `Sun 29 Mar 03:00 GMT+2`. */
export function wallText(at: number, timeZone: string): string {
  const { day, time, offset } = wallOf(at, timeZone)
  return `${day} ${time} ${offset}`
}
