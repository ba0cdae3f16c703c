import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

const SCALE_MAX = 2
const SCALE_MIN = 0.1
/** Below it names cannot be read: such a graph opens in its full size, with its minimap. */
const READABLE = 0.6
const STEP = 1.25

interface Size {
  readonly width: number
  readonly height: number
}

export interface Zoom {
  /** Pixels of the page for one of the drawing. */
  readonly scale: number
  readonly zoomIn: () => void
  readonly zoomOut: () => void
  readonly fit: () => void
}

/** How large a drawing is shown in its host, `width` pixels wide. It opens as a whole if its names can be read then. */
export function useZoom(host: RefObject<HTMLElement | null>, drawing: Size, width: number): Zoom {
  const [chosen, choose] = useState<number | 'fit' | 'opening'>('opening')
  const scale = typeof chosen === 'number' ? chosen : fitting(chosen, drawing, { host, width })
  const zoomTo = useAnchor(host, scale, choose)
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey) return
      // The browser would zoom the page.
      event.preventDefault()
      zoomTo(scale * Math.exp(-event.deltaY / 400), event)
    }
    element.addEventListener('wheel', turn, { passive: false })
    return () => element.removeEventListener('wheel', turn)
  }, [scale])
  return {
    scale,
    zoomIn: () => zoomTo(scale * STEP),
    zoomOut: () => zoomTo(scale / STEP),
    fit: () => choose('fit'),
  }
}

function fitting(
  how: 'fit' | 'opening',
  drawing: Size,
  { host, width }: { readonly host: RefObject<HTMLElement | null>; readonly width: number },
): number {
  const across = Math.min(1, width / drawing.width)
  if (how === 'opening') return across < READABLE ? 1 : across
  // A host with a height of its own scrolls in both directions.
  const element = host.current
  const isTall = element?.classList.contains('tall') === true
  const down = isTall ? element.clientHeight / drawing.height : 1
  return Math.max(SCALE_MIN, Math.min(across, down))
}

/** A point of the drawing, and where it stands in its host. */
interface Anchor {
  readonly x: number
  readonly y: number
  readonly left: number
  readonly top: number
}

/** Sets the scale, and keeps the point under the pointer, or that in the middle, where it is. */
function useAnchor(
  host: RefObject<HTMLElement | null>,
  scale: number,
  choose: (scale: number) => void,
): (next: number, at?: { readonly clientX: number; readonly clientY: number }) => void {
  const kept = useRef<Anchor | undefined>(undefined)
  useLayoutEffect(() => {
    const [anchor, element] = [kept.current, host.current]
    kept.current = undefined
    if (anchor === undefined || element === null) return
    element.scrollLeft = anchor.x * scale - anchor.left
    element.scrollTop = anchor.y * scale - anchor.top
  }, [scale])
  return (next, at) => {
    const element = host.current
    if (element === null) return
    const box = element.getBoundingClientRect()
    const left = at === undefined ? element.clientWidth / 2 : at.clientX - box.left
    const top = at === undefined ? element.clientHeight / 2 : at.clientY - box.top
    kept.current = {
      ...{ left, top },
      ...{ x: (element.scrollLeft + left) / scale, y: (element.scrollTop + top) / scale },
    }
    choose(Math.min(SCALE_MAX, Math.max(SCALE_MIN, next)))
  }
}
