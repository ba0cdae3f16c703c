import {
  drawAxis,
  drawLinks,
  drawPlan,
  fileStyle,
  type Plan,
  planTimeline,
  safeText,
  svgText,
  type Timeline,
  timelineText,
  type ViewRun,
} from '@belay/graph-view'
import { useMemo, useState } from 'preact/hooks'
import type { OpenStep } from '../../../src/api.ts'
import { Drawn, elementOf } from '../drawn.tsx'
import { density, zone } from '../settings.ts'
import { useCell } from '../stored.ts'
import { figure, nameOf, span } from '../words.ts'
import { FindStep } from './find-step.tsx'
import { useRoam, vertical } from './roam.ts'
import { save, savePicture } from './save.ts'
import { ActButton, type TabProps } from './tab.tsx'
import { LARGE, useSeen } from './use-seen.ts'
import { useSettled } from './use-settled.ts'
import { useWidth } from './use-width.ts'

/** Forward above, undo mirrored beneath. `at`: the instant that is drawn; by default the run's end, or now. */
export function TimelineTab({ page, act, at }: TabProps & { readonly at?: number }) {
  const run = useSettled(page.run)
  const [host, width] = useWidth()
  const [view, setView] = useState<View>({ fold: true, preview: false, round: run.rounds })
  const [lit, setLit] = useState<string>()
  const plan = usePlan(run, { view, width, at })
  const ids = useMemo(() => plan.rows.map(({ id }) => safeText(id)), [plan])
  const isLarge = run.steps.length >= LARGE
  const seen = useSeen(host, !isLarge)
  const roam = useRoam(host, 'data-row')
  const stop = roam.stop !== undefined && ids.includes(roam.stop) ? roam.stop : undefined
  const drawing = useMemo(() => drawPlan(plan, { view: seen, stop }), [plan, seen, stop])
  const names = useMemo(() => plan.rows.flatMap((row) => (isForward(row) ? row.step.name : [])), [plan])
  const label = `Timeline of ${nameOf(run)}: forward steps above, undo beneath`
  return (
    <section class="timeline">
      <div class="bar">
        <Choices run={run} view={view} onView={setView} />
        <FindStep names={names} onFound={(name) => roam.show(safeText(`f:${name}`))} />
        <span class="weak grow">Hover or ↑ ↓: what a step waits for, and its twin</span>
        <Exports
          name={nameOf(run)}
          text={() => timelineText(run, at ?? run.finishedAt ?? run.readAt, plan.zone)}
          svg={() => svgText(drawPlan(plan), { style: fileStyle, label })}
        />
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: for the rows inside, which are the tab stops. */}
      {/* biome-ignore lint/a11y/useKeyWithMouseEvents: focus that bubbles is onFocusIn. */}
      <div
        ref={host}
        class={`canvas${lit === undefined ? '' : ' tracing'}${isLarge ? ' tall' : ''}`}
        onMouseOver={(event) => setLit(rowOf(event.target))}
        onMouseLeave={() => setLit(undefined)}
        onFocusIn={(event) => {
          setLit(rowOf(event.target))
          roam.onFocusIn(event)
        }}
        onKeyDown={(event) => roam.onKeyDown(event, vertical(ids))}
      >
        {isLarge && <Axis plan={plan} />}
        <Drawn drawing={drawing} label={label}>
          <Links plan={plan} lit={lit} />
        </Drawn>
        {at === undefined && <Parked page={page} rows={drawing.rows} act={act} />}
      </div>
      <Legend run={run} notBegun={drawing.notBegun} />
    </section>
  )
}

/** What the row under the pointer waits for. */
function Links({ plan, lit }: { readonly plan: Plan; readonly lit: string | undefined }) {
  const lines = lit === undefined ? undefined : drawLinks(plan, lit)
  return lines === undefined ? null : elementOf(lines)
}

/** Planning is the part of the work that grows with the run: it is done again only for another run, width or choice. */
function usePlan(
  run: ViewRun,
  { view, width, at }: { readonly view: View; readonly width: number; readonly at: number | undefined },
): Plan {
  const timeZone = useCell(zone) === 'UTC' ? 'UTC' : LOCAL
  const compact = useCell(density) === 'compact'
  return useMemo(
    () =>
      planTimeline(run, {
        ...view,
        at: at ?? run.finishedAt ?? run.readAt,
        width,
        zone: timeZone,
        compact,
        actions: at === undefined ? BUTTONS_WIDTH : 0,
      }),
    [run, view, at, width, timeZone, compact],
  )
}

function isForward({ direction }: Plan['rows'][number]): boolean {
  return direction === 'forward'
}

/** The times stay in sight while the rows scroll. A screen reader has them in each row. */
function Axis({ plan }: { readonly plan: Plan }) {
  const drawing = useMemo(() => drawAxis(plan), [plan])
  return (
    <div class="axis" aria-hidden>
      <Drawn drawing={drawing} label="" />
    </div>
  )
}

/** Nobody reads more names than these. */
const NOT_BEGUN_MAX = 20

function Legend({ run, notBegun }: { readonly run: ViewRun } & Pick<Plan, 'notBegun'>) {
  const more = notBegun.length - NOT_BEGUN_MAX
  return (
    <>
      <p class="legend weak">
        A hollow bar is an attempt that failed; dots are the pause before the next one; hatching is the drain,
        in which running handlers end before anything is undone. A flag marks a pivot: once it has completed,
        nothing is undone any more. A struck arrow marks a step that cannot be undone.
        {run.stoppedAt !== undefined &&
          run.drainedAt !== undefined &&
          ` This drain took ${span(run.drainedAt - run.stoppedAt)}.`}
      </p>
      {notBegun.length > 0 && (
        <p class="legend weak">
          Not begun:{' '}
          {notBegun
            .slice(0, NOT_BEGUN_MAX)
            .map(({ step, why }) => (why === 'not begun' ? step : `${step} (${why})`))
            .join(', ')}
          {more > 0 && ` and ${figure(more)} more`}.
        </p>
      )}
    </>
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
function Parked({ page, rows, act }: TabProps & Pick<Timeline, 'rows'>) {
  return (
    <>
      {rows.map((row) => {
        const isOwn = (each: OpenStep) => each.step === row.step && each.reason === 'operator'
        const parked = row.direction === 'undo' ? page.open.find(isOwn) : undefined
        if (parked === undefined || row.actions === undefined) return null
        return (
          <div key={row.id} class="at-row" style={{ top: `${row.actions.y}px`, left: `${row.actions.x}px` }}>
            {parked.actions.map((action) => (
              <ActButton key={action.verb} action={action} act={act} />
            ))}
          </div>
        )
      })}
    </>
  )
}
