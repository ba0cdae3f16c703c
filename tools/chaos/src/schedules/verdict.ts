/** What the store holds. Keys are `schedule:<name>:<instant>`. */
export interface Counted {
  readonly runs: readonly string[]
  /** The newest firings of each schedule. */
  readonly firings: readonly { readonly key: string; readonly status: string }[]
}

/** Compares the runs with the seconds from `from` to `to`, of schedules `tick 0`, `tick 1`, … */
export function verdictOf(
  found: Counted & { readonly from: number; readonly to: number; readonly schedules: number },
): { readonly isGood: boolean; readonly text: string } {
  const { runs, firings, from, to, schedules } = found
  const times = new Map<string, number>()
  for (const key of runs) times.set(key, (times.get(key) ?? 0) + 1)
  const missing: string[] = []
  for (let number = 0; number < schedules; number += 1) {
    for (let second = from; second <= to; second += 1_000) {
      const key = `schedule:tick ${number}:${new Date(second).toISOString()}`
      if (!times.has(key)) missing.push(key)
    }
  }
  const recorded = new Map<string, number>()
  for (const { key } of firings) recorded.set(key, (recorded.get(key) ?? 0) + 1)
  const doubled = [...times, ...recorded].flatMap(([key, count]) => (count > 1 ? [key] : []))
  const others = firings
    .filter(({ status }) => status !== 'started')
    .map(({ key, status }) => `${key} ${status}`)
  const wrong = [...missing, ...doubled, ...others]
  const isGood = wrong.length === 0 && to > from
  const counts = `${missing.length} missing, ${doubled.length} doubled, ${others.length} not started`
  const some = isGood ? '' : ` (${wrong.slice(0, 5).join(', ')})`
  return { isGood, text: `${isGood ? 'Good' : 'BROKEN'}: ${runs.length} runs; ${counts}${some}.` }
}
