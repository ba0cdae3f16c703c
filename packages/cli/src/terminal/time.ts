import { age, span } from '@belay/graph-view'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** `6 min ago`, or `in 2 s`. */
export function ago(at: Date, now: Date): string {
  const ms = now.getTime() - at.getTime()
  return ms >= 0 ? `${age(ms)} ago` : `in ${span(-ms)}`
}

/** `0:08`, `5:57`, `2:05:00`. */
export function clockSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / SECOND))
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  const two = (n: number) => String(n).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

/** `18:30:33 UTC` today, else `2026-11-24 18:30 UTC`, in this machine's zone unless `utc`. */
export function moment(at: Date, now: Date, { utc }: { readonly utc: boolean }): string {
  const shown = utc ? at : local(at)
  const [day = '', time = ''] = shown.toISOString().split('T')
  const today = (utc ? now : local(now)).toISOString().startsWith(day)
  return `${today ? time.slice(0, 8) : `${day} ${time.slice(0, 5)}`} ${utc ? 'UTC' : zone(at)}`
}

function local(at: Date): Date {
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE)
}

function zone(at: Date): string {
  const minutes = -at.getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}
