import { drawMinimap, type Layout, type View, type ViewRun } from '@belay/graph-view'
import type { RefObject } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { Drawn } from '../drawn.tsx'
import { useSight } from './use-seen.ts'

/** The whole graph small, with a frame around what is in sight; pressing or dragging there moves it. The keyboard has the arrows. */
export function Minimap({
  run,
  at,
  layout,
  host,
  scale,
}: {
  readonly run: ViewRun
  readonly at: number
  readonly layout: Layout
  readonly host: RefObject<HTMLElement | null>
  /** Of the graph in its host. */
  readonly scale: number
}) {
  const own = useRef<HTMLDivElement>(null)
  const drawing = useMemo(() => drawMinimap(run, { at, layout }), [run, at, layout])
  const go = (event: PointerEvent) => {
    const [box, seen] = [own.current?.getBoundingClientRect(), host.current]
    if (box === undefined || seen === null || event.buttons !== 1) return
    seen.scrollTo({
      left: ((event.clientX - box.left) / box.width) * layout.width * scale - seen.clientWidth / 2,
      top: ((event.clientY - box.top) / box.height) * layout.height * scale - seen.clientHeight / 2,
      behavior: 'instant',
    })
  }
  return (
    <div
      ref={own}
      class="minimap"
      aria-hidden
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        go(event)
      }}
      onPointerMove={go}
    >
      <Drawn drawing={drawing} label="">
        <Frame
          host={host}
          whole={{ width: layout.width * scale, height: layout.height * scale }}
          across={drawing}
        />
      </Drawn>
    </div>
  )
}

/** On its own, so that a scroll redraws nothing else. */
function Frame({
  host,
  whole,
  across,
}: {
  readonly host: RefObject<HTMLElement | null>
  readonly whole: { readonly width: number; readonly height: number }
  readonly across: { readonly width: number; readonly height: number }
}) {
  const [view, setView] = useState<View>()
  useSight(host, false, (next) =>
    setView((last) =>
      last?.x === next.x && last.y === next.y && last.width === next.width && last.height === next.height
        ? last
        : next,
    ),
  )
  if (view === undefined) return null
  const [x, y] = [across.width / whole.width, across.height / whole.height]
  const [width, height] = [Math.min(whole.width, view.width) * x, Math.min(whole.height, view.height) * y]
  return (
    <g class="belay">
      <rect
        class="view"
        x={view.x * x}
        y={view.y * y}
        width={Math.max(6, width)}
        height={Math.max(6, height)}
      />
    </g>
  )
}
