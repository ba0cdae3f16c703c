import { useEffect, useState } from 'preact/hooks'

/** The present, again every second, or as often as is said: for ages and countdowns. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
