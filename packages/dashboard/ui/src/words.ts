import type { Capped } from '../../src/api.ts'
import { zone } from './settings.ts'

export { age, span } from '@belay/graph-view'

const formats = new Map<string, Intl.DateTimeFormat>()

function written(at: number, kind: string, options: Intl.DateTimeFormatOptions): string {
  const key = `${zone.get()} ${kind}`
  const known = formats.get(key)
  const timeZone = zone.get() === 'UTC' ? { timeZone: 'UTC' } : {}
  const format = known ?? new Intl.DateTimeFormat('en-GB', { ...options, ...timeZone })
  if (known === undefined) formats.set(key, format)
  return format.format(at).replace(',', '')
}

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const DAY = { day: 'numeric', month: 'short' } as const

/** `17:16:05` of the same day as `now`, else `24 Nov 17:16`. */
export function instant(at: number, now: number): string {
  return dayOf(at) === dayOf(now)
    ? written(at, 'clock', CLOCK)
    : written(at, 'day', { ...DAY, hour: '2-digit', minute: '2-digit' })
}

function dayOf(at: number): string {
  return written(at, 'date', { ...DAY, year: 'numeric' })
}

/** With date and zone, for a title. */
export function fullInstant(at: number): string {
  return written(at, 'full', { ...DAY, ...CLOCK, year: 'numeric', timeZoneName: 'short' })
}

const FIGURES = new Intl.NumberFormat('en')

export function figure(count: number): string {
  return FIGURES.format(count)
}

/** `1,204`, or `10,000+` where counting stopped. */
export function capped({ count, capped }: Capped): string {
  return figure(count) + (capped ? '+' : '')
}

export function counted(count: number, noun: string): string {
  return `${figure(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** The first digits of an id tell a minute, the last ones tell runs of that minute apart. */
export function shortId(id: string): string {
  return `${id.slice(0, 8)}…${id.slice(-4)}`
}

/** A run's key, or its id in short. */
export function nameOf({ id, key }: { readonly id: string; readonly key?: string | undefined }): string {
  return key ?? shortId(id)
}
