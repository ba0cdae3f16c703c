import { drawGraph, drawTimeline, type GraphNode, glyphOf, stateClass } from '@belay/graph-view'
import { useMemo } from 'preact/hooks'
import { Drawn } from '../../../packages/dashboard/ui/src/drawn.tsx'
import { Status } from '../../../packages/dashboard/ui/src/glyph.tsx'
import { useWidth } from '../../../packages/dashboard/ui/src/run/use-width.ts'
import { nameOf } from '../../../packages/dashboard/ui/src/words.ts'
import type { Look } from '../messages.ts'
import { Actions } from './actions.tsx'
import type { State, WorkerState } from './model.ts'
import { readable, versionText } from './readable.ts'
import { roam, vertical, type Way } from './roam.ts'
import type { Playground } from './state.ts'

/** The selected run: why, the buttons that help, its graph with who runs what, and its timeline. */
export function RunView({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  const { look, selected, workers, names } = state
  if (look === undefined)
    return (
      <div class="run-view empty">
        <p class="weak">
          {selected === undefined ? 'The graph and the timeline of a run stand here.' : 'Reading the run…'}
        </p>
      </div>
    )
  const { run, why } = look
  return (
    <div class="run-view">
      <div class="run-head">
        <div class="row">
          <span class={`badge ${stateClass(glyphOf(run.status))}`}>
            <Status status={run.status} />
          </span>
          <h2>{nameOf(run)}</h2>
          <span class="weak">
            {run.workflow} {versionText(run.version)}
          </span>
          <Actions key={run.id} {...{ playground, look }} />
        </div>
        <p class="run-why">{readable(why, names)}</p>
      </div>
      <Drawings {...{ look, workers }} />
    </div>
  )
}

function Drawings({ look, workers }: { readonly look: Look; readonly workers: readonly WorkerState[] }) {
  const [host, width] = useWidth()
  const { graph, timeline } = useMemo(() => drawingsOf(look, width), [look, width])
  const name = nameOf(look.run)
  return (
    <div class="drawings" ref={host}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: for the nodes inside, which are the tab stops. */}
      <div class="canvas" onKeyDown={(event) => roam(event, '[data-step]', along(graph.nodes))}>
        <Drawn drawing={graph} label={`Graph of ${name}`} role="tree">
          <WhoRuns {...{ nodes: graph.nodes, runId: look.run.id, workers }} />
        </Drawn>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: for the rows inside, which are the tab stops. */}
      <div class="canvas" onKeyDown={(event) => roam(event, '[data-row]', vertical)}>
        <Drawn drawing={timeline} label={`Timeline of ${name}: forward steps above, undo beneath`} />
      </div>
    </div>
  )
}

const LOCAL = Intl.DateTimeFormat().resolvedOptions().timeZone

function drawingsOf({ run }: Look, width: number) {
  const at = run.finishedAt ?? run.readAt
  return {
    graph: drawGraph(run, { at, order: run.stoppedAt !== undefined, vertical: width < 640 }),
    timeline: drawTimeline(run, { at, width, zone: LOCAL, fold: true, compact: true }),
  }
}

/** The name of a worker above the step that it executes. */
function WhoRuns({
  nodes,
  runId,
  workers,
}: {
  readonly nodes: readonly GraphNode[]
  readonly runId: string
  readonly workers: readonly WorkerState[]
}) {
  const held = workers.flatMap(({ name, state, steps }) =>
    steps.filter((held) => held.runId === runId).map(({ step }) => ({ name, state, step })),
  )
  return (
    <g class="belay who">
      {held.map(({ name, state, step }) => {
        const node = nodes.find((one) => one.step === step)
        if (node === undefined) return null
        return (
          <text
            key={`${name} ${step}`}
            class={state === 'live' ? 'halo s-running' : 'halo s-failed'}
            x={node.x + 2}
            y={node.y - 4}
          >
            {state === 'live'
              ? `worker ${name}`
              : `worker ${name}, ${state === 'frozen' ? 'frozen' : 'gone'}`}
          </text>
        )
      })}
    </g>
  )
}

/** Right and left follow the edges, up and down go through all steps. */
function along(nodes: readonly GraphNode[]): Way {
  return (elements, from, key) => {
    const stepOf = (element: SVGElement | undefined) => element?.getAttribute('data-step')
    const node = nodes.find(({ step }) => step === stepOf(elements[from]))
    const to = { ArrowRight: node?.successors[0], ArrowLeft: node?.predecessors[0] }[key]
    return to === undefined
      ? vertical(elements, from, key)
      : elements.find((element) => stepOf(element) === to)
  }
}
