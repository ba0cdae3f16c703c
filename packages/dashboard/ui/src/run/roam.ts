import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Where a key leads from a place of a drawing, by their names: to another one, or nowhere. */
export type Way = (from: string, key: string) => string | undefined

/** Up and down, to the first and to the last. */
export function vertical(names: readonly string[]): Way {
  return (from, key) => {
    const place = names.indexOf(from)
    const to = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: names.length - 1 }[key]
    return to === undefined ? undefined : names[to]
  }
}

export interface Roam {
  /** The place with the tab stop; undefined until it was moved. It must be drawn, in sight or not. */
  readonly stop: string | undefined
  /** Moves the tab stop and shows it, without taking the focus. */
  readonly show: (place: string) => void
  readonly onKeyDown: (event: KeyboardEvent, way: Way) => void
  readonly onFocusIn: (event: FocusEvent) => void
}

/** The one tab stop of a drawing, which the arrow keys move. `attribute` names the places, like `data-row`. */
export function useRoam(host: RefObject<Element | null>, attribute: string): Roam {
  const [stop, setStop] = useState<string>()
  const next = useRef<'focus' | 'show' | undefined>(undefined)
  const go = (place: string, how: 'focus' | 'show') => {
    next.current = how
    // Also if it stands there already, it may be out of sight.
    setStop(undefined)
    setStop(place)
  }
  useLayoutEffect(() => {
    const how = next.current
    if (how === undefined) return
    next.current = undefined
    const element = host.current?.querySelector<SVGElement>(`[${attribute}][tabindex="0"]`)
    if (how === 'focus') element?.focus({ preventScroll: true })
    element?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })
  const placeOf = ({ target }: Event) =>
    target instanceof Element ? target.closest(`[${attribute}]`)?.getAttribute(attribute) : undefined
  return {
    stop,
    show: (place) => go(place, 'show'),
    onKeyDown(event, way) {
      const from = placeOf(event)
      const to = from == null ? undefined : way(from, event.key)
      if (to === undefined) return
      event.preventDefault()
      event.stopPropagation()
      go(to, 'focus')
    },
    onFocusIn: (event) => setStop(placeOf(event) ?? stop),
  }
}
