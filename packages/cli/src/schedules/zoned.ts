/** The day and the minute that a clock in this zone shows: `2026-11-25` and `03:00`. */
export function dayAndTime(at: Date, timeZone: string): { readonly day: string; readonly time: string } {
  // Sweden writes dates as ISO 8601 does.
  const shown = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).format(at)
  const [day = '', time = ''] = shown.split(' ')
  return { day, time }
}
