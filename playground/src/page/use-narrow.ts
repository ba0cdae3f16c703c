import { useEffect, useState } from 'preact/hooks'

/** The same width as in `layout.css`. */
const NARROW = matchMedia('(max-width: 900px)')

/** Whether all stands in one column. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(NARROW.matches)
  useEffect(() => {
    const change = () => setNarrow(NARROW.matches)
    NARROW.addEventListener('change', change)
    return () => NARROW.removeEventListener('change', change)
  }, [])
  return isNarrow
}
