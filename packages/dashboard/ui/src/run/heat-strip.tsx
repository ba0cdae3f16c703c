import { HEAT_PITCH, type Heat, type HeatCell } from '@belay/graph-view'
import { useMemo, useState } from 'preact/hooks'
import { elementOf } from '../drawn.tsx'
import { wordOf } from '../status.ts'
import { figure } from '../words.ts'

/** All items of a map as cells. One element takes the keys: the arrows go from cell to cell, and each tells its items. */
export function HeatStrip({
  map,
  drawing: { width, height, shapes, cells, columns },
  onChosen,
  keyOf,
}: {
  readonly map: string
  readonly drawing: Heat
  /** Opens an item: the first in the loudest state of its cell. */
  readonly onChosen: (index: number) => void
  /** The key of an item, as far as it is known. */
  readonly keyOf: (index: number) => string | undefined
}) {
  const [place, setPlace] = useState<number>()
  const elements = useMemo(() => shapes.map(elementOf), [shapes])
  const own = Math.min(place ?? 0, cells.length - 1)
  const words = wordsOf(cells[own]!, keyOf)
  const open = (to: number) => {
    const cell = cells[to]
    if (cell === undefined) return
    setPlace(to)
    onChosen(cell.loudest)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const to = {
      ...{ ArrowRight: own + 1, ArrowLeft: own - 1, ArrowDown: own + columns, ArrowUp: own - columns },
      ...{ Home: 0, End: cells.length - 1, Enter: own },
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    if (event.key === 'Enter') open(own)
    else if (cells[to] !== undefined) setPlace(to)
  }
  const onPointerDown = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const { left, top, width: shown } = event.currentTarget.getBoundingClientRect()
    const pitch = (HEAT_PITCH * shown) / width
    open(Math.floor((event.clientY - top) / pitch) * columns + Math.floor((event.clientX - left) / pitch))
  }
  const [x, y] = [(own % columns) * HEAT_PITCH, Math.floor(own / columns) * HEAT_PITCH]
  return (
    <>
      <div
        class="heat-strip"
        role="slider"
        tabIndex={0}
        aria-label={`Items of ${map}: arrows move, Enter opens`}
        aria-valuemin={1}
        aria-valuemax={cells.length}
        aria-valuenow={own + 1}
        aria-valuetext={words}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
      >
        <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
          {elements}
          {place !== undefined && (
            <g class="belay">
              <rect class="chosen" x={x - 1} y={y - 1} width={HEAT_PITCH} height={HEAT_PITCH} />
            </g>
          )}
        </svg>
      </div>
      {place !== undefined && <p class="weak">{words}</p>}
    </>
  )
}

/** `Items 401 to 600: 1 failed, 199 completed`, or `Item 4, p3: failed`. */
function wordsOf({ from, to, counts }: HeatCell, keyOf: (index: number) => string | undefined): string {
  const parts = [...counts].map(([status, count]) => `${figure(count)} ${wordOf(status).toLowerCase()}`)
  if (to - from > 1) return `Items ${figure(from + 1)} to ${figure(to)}: ${parts.join(', ')}`
  const key = keyOf(from)
  return `Item ${figure(from + 1)}${key === undefined ? '' : `, ${key}`}: ${[...counts.keys()].map((status) => wordOf(status).toLowerCase()).join()}`
}
