import type { View } from '@belay/graph-view'
import type { RefObject } from 'preact'
import { flushSync } from 'preact/compat'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

/** From so many steps on, only what is in sight is drawn. */
export const LARGE = 300

/** What is drawn beyond the edges, in pixels; and it changes in steps of these, so that few scrolls draw anything anew. */
const MARGIN = 256

/**
 * The part of an element's content that is in sight, with a margin, in its own pixels. Undefined, for all of it, if that `isOff` and while the page is
 * printed.
 */
export function useSeen(host: RefObject<Element | null>, isOff: boolean): View | undefined {
  const [isPrinted, setPrinted] = useState(false)
  const [seen, setSeen] = useState<View>(() =>
    roughly({ x: 0, y: 0, width: innerWidth, height: innerHeight }),
  )
  useSight(host, isOff, (view) => setSeen((last) => (isSame(last, roughly(view)) ? last : roughly(view))))
  useEffect(() => {
    if (isOff) return undefined
    const [before, after] = [true, false].map((isNow) => () => flushSync(() => setPrinted(isNow)))
    addEventListener('beforeprint', before!)
    addEventListener('afterprint', after!)
    return () => {
      removeEventListener('beforeprint', before!)
      removeEventListener('afterprint', after!)
    }
  }, [isOff])
  return isOff || isPrinted ? undefined : seen
}

/** Tells the part of an element's content that is in sight, to the pixel, whenever it may have changed. */
export function useSight(host: RefObject<Element | null>, isOff: boolean, tell: (view: View) => void): void {
  useLayoutEffect(() => {
    if (!isOff && host.current !== null) tell(sightOf(host.current))
  })
  useEffect(() => {
    const element = host.current
    if (isOff || element === null) return undefined
    const see = () => tell(sightOf(element))
    // It may be scrolled itself, or any element around it.
    addEventListener('scroll', see, { capture: true, passive: true })
    addEventListener('resize', see)
    return () => {
      removeEventListener('scroll', see, { capture: true })
      removeEventListener('resize', see)
    }
  }, [isOff])
}

function sightOf(element: Element): View {
  const { left, top } = element.getBoundingClientRect()
  const [x, y] = [Math.max(0, -left), Math.max(0, -top)]
  return {
    x: element.scrollLeft + x,
    y: element.scrollTop + y,
    width: Math.max(0, Math.min(element.clientWidth, innerWidth - left) - x),
    height: Math.max(0, Math.min(element.clientHeight, innerHeight - top) - y),
  }
}

function roughly({ x, y, width, height }: View): View {
  const [left, right] = steps(x, x + width)
  const [top, bottom] = steps(y, y + height)
  return { x: left, y: top, width: right - left, height: bottom - top }
}

function steps(from: number, to: number): readonly [number, number] {
  return [(Math.floor(from / MARGIN) - 1) * MARGIN, (Math.ceil(to / MARGIN) + 1) * MARGIN]
}

function isSame(one: View, other: View): boolean {
  return one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height
}
