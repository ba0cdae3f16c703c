import { drawGraph, type Graph, layoutGraph, safeText, type View } from '@belay/graph-view'
import { useMemo, useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { OpenStep } from '../../../src/api.ts'
import { Drawn } from '../drawn.tsx'
import { useKeys } from '../keys.ts'
import { figure, nameOf } from '../words.ts'
import { FindStep } from './find-step.tsx'
import { Minimap } from './minimap.tsx'
import { useRoam, type Way } from './roam.ts'
import { ActButton, type TabProps } from './tab.tsx'
import { LARGE, useSeen } from './use-seen.ts'
import { useSettled, useShape } from './use-settled.ts'
import { useWidth } from './use-width.ts'
import { useZoom, type Zoom } from './use-zoom.ts'

/** The graph, with the way taken and the order of the undo; below it what each open step waits for. `at`: the instant that is drawn. */
export function GraphTab({ page, act, at }: TabProps & { readonly at?: number }) {
  const run = useSettled(page.run)
  const [order, setOrder] = useState(run.stoppedAt !== undefined)
  const [host, width] = useWidth()
  const vertical = width < 640
  const instant = at ?? run.finishedAt ?? run.readAt
  const isLarge = run.steps.length >= LARGE
  const { stop, ...roam } = useRoam(host, 'data-step')
  // The shape of a run changes only with its definition: a large one is laid out once.
  const shape = useShape(run.steps)
  const layout = useMemo(() => layoutGraph(shape, { vertical }), [shape, vertical])
  const zoom = useZoom(host, layout, width)
  const scale = zoom.scale
  const seen = useSeen(host, !isLarge)
  const view = useMemo(() => scaled(seen, 1 / scale), [seen, scale])
  const drawing = useMemo(
    () => drawGraph(run, { at: instant, order, layout, vertical, view, stop }),
    [run, instant, order, layout, vertical, view, stop],
  )
  return (
    <section class="graph">
      <div class="bar">
        <label class="check">
          <input type="checkbox" checked={order} onChange={() => setOrder(!order)} /> Order of the undo
        </label>
        <FindStep names={namesOf(shape)} onFound={(name) => roam.show(safeText(name))} />
        <ZoomButtons zoom={zoom} />
        <span class="weak grow">Arrow keys follow the edges</span>
        <Link href={`/runs/${run.id}/steps`}>The same as a table</Link>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: for the nodes inside, which are the tab stops. */}
      <div
        ref={host}
        class={isLarge ? 'canvas tall' : 'canvas'}
        onFocusIn={roam.onFocusIn}
        onKeyDown={(event) => roam.onKeyDown(event, along(drawing.nodes))}
      >
        <Drawn drawing={drawing} label={`Graph of ${nameOf(run)}`} role="tree" scale={scale} />
      </div>
      {(isLarge || drawing.width * scale > width + 1) && (
        <Minimap run={run} at={instant} layout={layout} host={host} scale={scale} />
      )}
      <Legend steps={run.steps} />
      {at === undefined && <OpenSteps page={page} act={act} />}
    </section>
  )
}

const namesOf = (steps: readonly { readonly name: string }[]) => steps.map(({ name }) => name)

function Legend({ steps }: Pick<TabProps['page']['run'], 'steps'>) {
  if (!steps.some(({ pivot, irreversible }) => pivot || irreversible)) return null
  return (
    <p class="legend weak">
      A flag marks a pivot: once it has completed, nothing is undone any more. A struck arrow marks a step
      that cannot be undone.
    </p>
  )
}

function scaled(view: View | undefined, by: number): View | undefined {
  if (view === undefined) return undefined
  return { x: view.x * by, y: view.y * by, width: view.width * by, height: view.height * by }
}

function ZoomButtons({ zoom: { zoomIn, zoomOut, fit } }: { readonly zoom: Zoom }) {
  useKeys({ '+': zoomIn, '-': zoomOut, '0': fit })
  return (
    <fieldset class="row" aria-label="Zoom">
      <button type="button" class="button" aria-label="Zoom out" title="Key: -" onClick={zoomOut}>
        −
      </button>
      <button type="button" class="button" aria-label="Zoom in" title="Key: +" onClick={zoomIn}>
        +
      </button>
      <button type="button" class="button" title="Key: 0" onClick={fit}>
        Fit
      </button>
    </fieldset>
  )
}

/** Nobody reads more sentences than these; the table has them all. */
const OPEN_MAX = 20

function OpenSteps({ page: { run, open }, act }: TabProps) {
  if (open.length === 0) return null
  const isActed = ({ actions }: OpenStep) => actions.length > 0
  // Those that wait for a person must not be among those that are left out.
  const told =
    open.length <= OPEN_MAX ? open : [...open.filter(isActed), ...open.filter((one) => !isActed(one))]
  return (
    <>
      <h2>Open steps, and what each waits for</h2>
      <ul class="open-steps">
        {told.slice(0, OPEN_MAX).map(({ step, sentence, actions }) => (
          <li key={step}>
            <p>{sentence}</p>
            <div>
              {actions.map((action) => (
                <ActButton key={action.verb} action={action} act={act} />
              ))}
            </div>
          </li>
        ))}
      </ul>
      {open.length > OPEN_MAX && (
        <p class="legend">
          {figure(open.length - OPEN_MAX)} more steps are open:{' '}
          <Link href={`/runs/${run.id}/steps`}>all in a table</Link>.
        </p>
      )}
    </>
  )
}

/** To a screen reader it is a tree: right and left follow the edges, up and down stay in the layer. */
export function along(nodes: Graph['nodes']): Way {
  return (from, key) => {
    const node = nodes.find(({ step }) => safeText(step) === from)
    if (node === undefined) return undefined
    const layer = nodes.filter((one) => one.layer === node.layer).toSorted((one, other) => one.y - other.y)
    const place = layer.indexOf(node)
    const to = {
      ArrowRight: node.successors[0],
      ArrowLeft: node.predecessors[0],
      ArrowDown: layer[place + 1]?.step,
      ArrowUp: layer[place - 1]?.step,
      Home: nodes[0]?.step,
      End: nodes.at(-1)?.step,
    }[key]
    return to === undefined ? undefined : safeText(to)
  }
}
