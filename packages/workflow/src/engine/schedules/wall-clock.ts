const DAY_MS = 86_400_000
/** Formatters are slow to make: one for each time zone. */
const formatters = new Map<string, Intl.DateTimeFormat>()

/** Whether this runtime knows the time zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    formatterOf(timeZone)
    return true
  } catch {
    return false
  }
}

/** The time that clocks in the zone show at an instant, as if it were UTC. */
export function wallAt(instant: number, timeZone: string): number {
  return instant + offsetAt(instant, timeZone)
}

/**
 * The instant at which clocks in the zone show a time: the first of two if the time comes twice. If clocks skip it, the first instant after the gap.
 */
export function instantOf(wall: number, timeZone: string): number {
  const [before, after] = [offsetAt(wall - DAY_MS, timeZone), offsetAt(wall + DAY_MS, timeZone)]
  if (before === after && offsetAt(wall - before, timeZone) === before) return wall - before
  const fitting = [wall - before, wall - after].filter((instant) => wallAt(instant, timeZone) === wall)
  if (fitting.length > 0) return Math.min(...fitting)
  return changeBetween(wall - Math.max(before, after), wall - Math.min(before, after), timeZone)
}

/** The first instant with the offset that holds at `to`. */
function changeBetween(from: number, to: number, timeZone: string): number {
  let [low, high] = [from, to]
  const then = offsetAt(to, timeZone)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle, timeZone) === then) high = middle
    else low = middle
  }
  return high
}

/** What the zone's clocks are ahead of UTC, in milliseconds. */
function offsetAt(instant: number, timeZone: string): number {
  const shown: Record<string, number> = {}
  for (const { type, value } of formatterOf(timeZone).formatToParts(instant)) shown[type] = Number(value)
  const { year, month, day, hour, minute, second } = shown as Record<string, number>
  const wall = Date.UTC(year!, month! - 1, day, hour, minute, second)
  return wall - Math.floor(instant / 1_000) * 1_000
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  formatters.set(timeZone, made)
  return made
}
