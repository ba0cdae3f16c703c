import { drawGraph, drawMinimap, type Graph, layoutGraph } from '@belay/graph-view'
import { useMemo, useState } from 'preact/hooks'
import { Link } from 'wouter'
import { Drawn } from '../drawn.tsx'
import { nameOf } from '../words.ts'
import { roam, type Way } from './roam.ts'
import { ActButton, type TabProps } from './run.tsx'
import { useWidth } from './use-width.ts'

/** The graph, with the way taken and the order of the undo; below it what each open step waits for. `at`: the instant that is drawn. */
export function GraphTab({ page, act, isStale, at }: TabProps & { readonly at?: number }) {
  const { run, open } = page
  const [order, setOrder] = useState(run.stoppedAt !== undefined)
  const [host, width] = useWidth()
  const vertical = width < 640
  // The shape of a run changes only with its definition: a large one is laid out once.
  const shape = run.steps.map(({ name, dependsOn }) => `${name}<${dependsOn}`).join()
  const layout = useMemo(() => layoutGraph(run.steps, { vertical }), [shape, vertical])
  const options = { at: at ?? run.finishedAt ?? run.readAt, order, layout, vertical }
  const drawing = drawGraph(run, options)
  return (
    <section class="graph">
      <div class="bar">
        <label class="check">
          <input type="checkbox" checked={order} onChange={() => setOrder(!order)} /> Order of the undo
        </label>
        <span class="weak grow">Arrow keys follow the edges</span>
        <Link href={`/runs/${run.id}/steps`}>The same as a table</Link>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: for the nodes inside, which are the tab stops. */}
      <div ref={host} class="canvas" onKeyDown={(event) => roam(event, '[data-step]', along(drawing.nodes))}>
        <Drawn drawing={drawing} label={`Graph of ${nameOf(run)}`} role="tree" />
      </div>
      {drawing.width > width && (
        <div class="minimap" aria-hidden>
          <Drawn drawing={drawMinimap(run, options)} label="" />
        </div>
      )}
      {at === undefined && open.length > 0 && (
        <>
          <h2>Open steps, and what each waits for</h2>
          <ul class="open-steps">
            {open.map(({ step, sentence, actions }) => (
              <li key={step}>
                <p>{sentence}</p>
                <div>
                  {actions.map((action) => (
                    <ActButton key={action.verb} action={action} act={act} isMain={false} isOff={isStale} />
                  ))}
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

/** To a screen reader it is a tree: right and left follow the edges, up and down stay in the layer. */
function along(nodes: Graph['nodes']): Way {
  const byName = new Map(nodes.map((node) => [node.step, node]))
  return (elements, from, key) => {
    const node = byName.get(elements[from]?.getAttribute('data-step') ?? '')
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
    return elements.find((element) => element.getAttribute('data-step') === to)
  }
}
