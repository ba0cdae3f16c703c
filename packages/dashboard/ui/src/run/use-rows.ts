import type { View } from '@belay/graph-view'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Of a row that was not seen yet, in pixels. */
const GUESSED = 41

export interface Rows {
  /** The rows that are drawn: from this one to the one before that. */
  readonly from: number
  readonly to: number
  /** The height of those above and below, in pixels. */
  readonly above: number
  readonly below: number
}

/** Which rows of a table are in view: they have different heights, known once they were drawn. Without a view, all. A row has its name in `data-name`. */
export function useRows(
  host: RefObject<Element | null>,
  named: readonly { readonly name: string }[],
  view: View | undefined,
): Rows {
  const heights = useRef(new Map<string, number>())
  const [, measureAgain] = useState(0)
  useLayoutEffect(() => {
    if (view === undefined) return
    let changed = 0
    for (const row of host.current?.querySelectorAll<HTMLElement>('tr[data-name]') ?? []) {
      const [name, height] = [row.dataset['name']!, row.offsetHeight]
      if (heights.current.get(name) !== height) changed += 1
      heights.current.set(name, height)
    }
    if (changed > 0) measureAgain((count) => count + 1)
  })
  const isOff = view === undefined
  useEffect(() => {
    const table = host.current?.querySelector('table')
    if (isOff || table == null) return undefined
    // What a row unfolds changes its height without this table being drawn anew.
    const observer = new ResizeObserver(() => measureAgain((count) => count + 1))
    observer.observe(table)
    return () => observer.disconnect()
  }, [isOff])
  return view === undefined
    ? { from: 0, to: named.length, above: 0, below: 0 }
    : rowsIn(
        named.map(({ name }) => heights.current.get(name) ?? GUESSED),
        view,
      )
}

function rowsIn(heights: readonly number[], view: View): Rows {
  const bottom = view.y + view.height
  let [y, from, to, above, below] = [0, 0, 0, 0, 0]
  heights.forEach((height, index) => {
    if (y + height < view.y) {
      from = index + 1
      above += height
    } else if (y > bottom) below += height
    else to = index + 1
    y += height
  })
  return { from, to: Math.max(from, to), above, below }
}
