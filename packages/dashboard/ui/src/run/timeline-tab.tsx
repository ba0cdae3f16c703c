import {
  drawLinks,
  drawTimeline,
  fileStyle,
  svgText,
  type Timeline,
  timelineText,
  type ViewRun,
} from '@belay/graph-view'
import { useState } from 'preact/hooks'
import type { OpenStep } from '../../../src/api.ts'
import { Drawn, elementOf } from '../drawn.tsx'
import { density, zone } from '../settings.ts'
import { useCell } from '../stored.ts'
import { nameOf, span } from '../words.ts'
import { roam, vertical } from './roam.ts'
import { ActButton, type TabProps } from './run.tsx'
import { save, savePicture } from './save.ts'
import { useWidth } from './use-width.ts'

/** Forward above, undo mirrored beneath. `at`: the instant that is drawn; by default the run's end, or now. */
export function TimelineTab({ page, act, isStale, at }: TabProps & { readonly at?: number }) {
  const { run } = page
  const [host, width] = useWidth()
  const [view, setView] = useState<View>({ fold: true, preview: false, round: run.rounds })
  const [lit, setLit] = useState<string>()
  const timeZone = useCell(zone) === 'UTC' ? 'UTC' : LOCAL
  const compact = useCell(density) === 'compact'
  const instant = at ?? run.finishedAt ?? run.readAt
  const drawing = drawTimeline(run, {
    ...view,
    at: instant,
    width,
    zone: timeZone,
    compact,
    actions: at === undefined ? BUTTONS_WIDTH : 0,
  })
  const label = `Timeline of ${nameOf(run)}: forward steps above, undo beneath`
  return (
    <section class="timeline">
      <div class="bar">
        <Choices run={run} view={view} onView={setView} />
        <span class="weak grow">Hover or ↑ ↓: what a step waits for, and its twin</span>
        <Exports
          name={nameOf(run)}
          text={() => timelineText(run, instant, timeZone)}
          svg={() => svgText(drawing, { style: fileStyle, label })}
        />
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: for the rows inside, which are the tab stops. */}
      {/* biome-ignore lint/a11y/useKeyWithMouseEvents: focus that bubbles is onFocusIn. */}
      <div
        ref={host}
        class={lit === undefined ? 'canvas' : 'canvas tracing'}
        onMouseOver={(event) => setLit(rowOf(event.target))}
        onMouseLeave={() => setLit(undefined)}
        onFocusIn={(event) => setLit(rowOf(event.target))}
        onKeyDown={(event) => roam(event, '[data-row]', vertical)}
      >
        <Drawn drawing={drawing} label={label}>
          {lit !== undefined && drawLinks(run, drawing, lit).map(elementOf)}
        </Drawn>
        {at === undefined && <Parked page={page} rows={drawing.rows} act={act} isStale={isStale} />}
      </div>
      <p class="legend weak">
        A hollow bar is an attempt that failed; dots are the pause before the next one; hatching is the drain,
        in which running handlers end before anything is undone.
        {run.stoppedAt !== undefined &&
          run.drainedAt !== undefined &&
          ` This drain took ${span(run.drainedAt - run.stoppedAt)}.`}
      </p>
      {drawing.notBegun.length > 0 && (
        <p class="legend weak">
          Not begun:{' '}
          {drawing.notBegun
            .map(({ step, why }) => (why === 'not begun' ? step : `${step} (${why})`))
            .join(', ')}
          .
        </p>
      )}
    </section>
  )
}

/** What two buttons take, in pixels. */
const BUTTONS_WIDTH = 264

const LOCAL = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The row of the drawing in which an element stands. */
function rowOf(target: EventTarget | null): string | undefined {
  return target instanceof Element
    ? (target.closest('[data-row]')?.getAttribute('data-row') ?? undefined)
    : undefined
}

interface View {
  readonly fold: boolean
  readonly preview: boolean
  readonly round: number
}

function Choices({
  run,
  view,
  onView,
}: {
  readonly run: ViewRun
  readonly view: View
  readonly onView: (view: View) => void
}) {
  const mayPreview = run.finishedAt === undefined && run.stoppedAt === undefined
  const rounds = Array.from({ length: run.rounds }, (_, index) => index + 1)
  return (
    <>
      {run.rounds > 1 &&
        rounds.map((round) => (
          <button
            key={round}
            type="button"
            class="button"
            aria-pressed={round === view.round}
            onClick={() => onView({ ...view, round })}
          >
            Round {round}
          </button>
        ))}
      <label class="check">
        <input type="checkbox" checked={view.fold} onChange={() => onView({ ...view, fold: !view.fold })} />
        Fold idle time
      </label>
      {mayPreview && (
        <label class="check">
          <input
            type="checkbox"
            checked={view.preview}
            onChange={() => onView({ ...view, preview: !view.preview })}
          />
          Preview an undo
        </label>
      )}
    </>
  )
}

/** The drawing for an incident report. */
function Exports({
  name,
  text,
  svg,
}: {
  readonly name: string
  readonly text: () => string
  readonly svg: () => string
}) {
  const [told, setTold] = useState('')
  const copy = async () => {
    await navigator.clipboard.writeText(text())
    setTold('Copied as text.')
  }
  return (
    <>
      <button type="button" class="button" onClick={copy}>
        {told === '' ? 'Copy as text' : 'Copied'}
      </button>
      <button type="button" class="button" onClick={() => save(`${name}.svg`, svg())}>
        SVG
      </button>
      <button type="button" class="button" onClick={() => savePicture(`${name}.png`, svg())}>
        PNG
      </button>
      <button type="button" class="button" onClick={() => window.print()}>
        Print
      </button>
      <span role="status" class="sr">
        {told}
      </span>
    </>
  )
}

/** The buttons that end a parked undo, at its row. */
function Parked({ page, rows, act, isStale }: TabProps & Pick<Timeline, 'rows'>) {
  return (
    <>
      {rows.map((row) => {
        const isOwn = (each: OpenStep) => each.step === row.step && each.reason === 'operator'
        const parked = row.direction === 'undo' ? page.open.find(isOwn) : undefined
        if (parked === undefined || row.actions === undefined) return null
        return (
          <div key={row.id} class="at-row" style={{ top: `${row.actions.y}px`, left: `${row.actions.x}px` }}>
            {parked.actions.map((action) => (
              <ActButton key={action.verb} action={action} act={act} isMain={false} isOff={isStale} />
            ))}
          </div>
        )
      })}
    </>
  )
}
