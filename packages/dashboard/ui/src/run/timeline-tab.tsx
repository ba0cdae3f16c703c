import { drawTimeline, links, STYLE, svgText, timelineText } from '@belay/graph-view'
import { useRef, useState } from 'preact/hooks'
import { density, zone } from '../settings.ts'
import { useCell } from '../stored.ts'
import { nameOf, span } from '../words.ts'
import { Drawn, elementOf } from './drawn.tsx'
import { ActButton, type TabProps } from './run.tsx'
import { save, savePicture } from './save.ts'
import { useWidth } from './use-width.ts'

/** Forward above, undo mirrored beneath. `at`: the instant that is drawn; by default the run's end, or now. */
export function TimelineTab({ page, act, isStale, at }: TabProps & { readonly at?: number }) {
  const { run, open } = page
  const [host, width] = useWidth()
  const [fold, setFold] = useState(true)
  const [preview, setPreview] = useState(false)
  const [round, setRound] = useState(run.rounds)
  const [lit, setLit] = useState<string>()
  const [told, setTold] = useState('')
  const timeZone = useCell(zone) === 'UTC' ? 'UTC' : undefined
  const compact = useCell(density) === 'compact'
  const instant = at ?? run.finishedAt ?? run.readAt
  const drawing = drawTimeline(run, { at: instant, width, fold, round, preview, zone: timeZone, compact })
  const label = `Timeline of ${nameOf(run)}: forward steps above, undo beneath`
  const isOver = run.finishedAt !== undefined
  const copy = async () => {
    await navigator.clipboard.writeText(timelineText(run, instant, timeZone))
    setTold('Copied as text.')
  }
  return (
    <section class="timeline">
      <div class="bar">
        {run.rounds > 1 && (
          <div class="segments" role="group" aria-label="Rounds">
            {Array.from({ length: run.rounds }, (_, index) => index + 1).map((each) => (
              <button key={each} type="button" aria-pressed={each === round} onClick={() => setRound(each)}>
                Round {each}
              </button>
            ))}
          </div>
        )}
        <label class="check">
          <input type="checkbox" checked={fold} onChange={() => setFold(!fold)} /> Fold idle time
        </label>
        {!isOver && run.stoppedAt === undefined && (
          <label class="check">
            <input type="checkbox" checked={preview} onChange={() => setPreview(!preview)} /> Preview an undo
          </label>
        )}
        <span class="quiet grow">Hover or ↑ ↓: what a step waits for, and its twin</span>
        <button type="button" class="button" onClick={copy}>
          Copy as text
        </button>
        <button type="button" class="button" onClick={() => save(`${nameOf(run)}.svg`, svgText(drawing, { style: STYLE, label }))}>
          SVG
        </button>
        <button type="button" class="button" onClick={() => savePicture(`${nameOf(run)}.png`, svgText(drawing, { style: STYLE, label }))}>
          PNG
        </button>
        <button type="button" class="button" onClick={() => window.print()}>
          Print
        </button>
        <span role="status" class="sr">
          {told}
        </span>
      </div>
      <div ref={host} class={lit === undefined ? 'canvas' : 'canvas tracing'}>
        <Drawn drawing={drawing} label={label}>
          {lit !== undefined && links(drawing, run, lit).map(elementOf)}
          <Rows rows={drawing.rows} width={drawing.width} lit={lit} onLight={setLit} />
        </Drawn>
        {at === undefined &&
          drawing.rows.map((row) => {
            const parked = row.direction === 'undo' && open.find(({ step, reason }) => step === row.step && reason === 'operator')
            if (!parked) return null
            return (
              <div key={row.id} class="at-row" style={{ top: `${row.y + row.height - 30}px` }}>
                {parked.actions.map((action) => (
                  <ActButton key={action.verb} action={action} act={act} isMain={false} isOff={isStale} />
                ))}
              </div>
            )
          })}
      </div>
      <p class="legend quiet">
        A hollow bar is an attempt that failed; dots are the pause before the next one; hatching is the drain, in which running handlers end
        before anything is undone. {run.stoppedAt !== undefined && run.drainedAt !== undefined && `This drain took ${span(run.drainedAt - run.stoppedAt)}.`}
      </p>
    </section>
  )
}

interface RowsProps {
  readonly rows: ReturnType<typeof drawTimeline>['rows']
  readonly width: number
  readonly lit: string | undefined
  readonly onLight: (id: string | undefined) => void
}

/** One tab stop; the arrows go from row to row. */
function Rows({ rows, width, lit, onLight }: RowsProps) {
  const [focused, setFocused] = useState(0)
  const elements = useRef<(SVGElement | null)[]>([])
  const move = (event: KeyboardEvent, index: number) => {
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (to === undefined || rows[to] === undefined) return
    event.preventDefault()
    setFocused(to)
    elements.current[to]?.focus()
  }
  return (
    <>
      {rows.map((row, index) => (
        <rect
          key={row.id}
          ref={(element: SVGElement | null) => {
            elements.current[index] = element
          }}
          class={row.id === lit ? 'row lit' : 'row'}
          x={0}
          y={row.y}
          width={width}
          height={row.height}
          role="img"
          aria-label={row.label}
          tabIndex={index === Math.min(focused, rows.length - 1) ? 0 : -1}
          onMouseEnter={() => onLight(row.id)}
          onMouseLeave={() => onLight(undefined)}
          onFocus={() => onLight(row.id)}
          onBlur={() => onLight(undefined)}
          onKeyDown={(event) => move(event, index)}
        />
      ))}
    </>
  )
}
