import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** The width of an element in CSS pixels, as it changes. */
export function useWidth(): readonly [RefObject<HTMLDivElement | null>, number] {
  const host = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(() => Math.min(1_100, document.documentElement.clientWidth - 40))
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setWidth(Math.max(300, element.clientWidth)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [host, width]
}
