import { drawGraph, drawMinimap } from '@belay/graph-view'
import { useRef, useState } from 'preact/hooks'
import { Link } from 'wouter'
import { nameOf } from '../words.ts'
import { Drawn } from './drawn.tsx'
import { ActButton, type TabProps } from './run.tsx'

/** The graph, with the way taken and the order of the undo; below it what each open step waits for. `at`: the instant that is drawn. */
export function GraphTab({ page, act, isStale, at }: TabProps & { readonly at?: number }) {
  const { run, open } = page
  const [order, setOrder] = useState(run.stoppedAt !== undefined)
  const scroller = useRef<HTMLDivElement>(null)
  const drawing = drawGraph(run, { at: at ?? run.finishedAt ?? run.readAt, order })
  const toMinimap = drawing.width > 1_400 ? drawMinimap(drawing) : undefined
  return (
    <section class="graph">
      <div class="bar">
        <label class="check">
          <input type="checkbox" checked={order} onChange={() => setOrder(!order)} /> Order of the undo
        </label>
        <span class="weak grow">Arrow keys follow the edges</span>
        <Link href={`/runs/${run.id}/steps`}>The same as a table</Link>
      </div>
      <div class="scroller canvas" ref={scroller} tabIndex={-1}>
        <Drawn drawing={drawing} label={`Graph of ${nameOf(run)}`}>
          <Nodes nodes={drawing.nodes} />
        </Drawn>
      </div>
      {toMinimap && (
        <div class="minimap" aria-hidden>
          <Drawn drawing={toMinimap} label="" />
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

/** A tree to a screen reader: one tab stop, and the arrows follow the edges. */
function Nodes({ nodes }: { readonly nodes: ReturnType<typeof drawGraph>['nodes'] }) {
  const [focused, setFocused] = useState(nodes[0]?.step)
  const elements = useRef(new Map<string, SVGElement>())
  const move = (event: KeyboardEvent, node: (typeof nodes)[number]) => {
    const column = nodes.filter(({ x }) => x === node.x).toSorted((one, other) => one.y - other.y)
    const place = column.indexOf(node)
    const to = {
      ArrowRight: node.successors[0],
      ArrowLeft: node.predecessors[0],
      ArrowDown: column[place + 1]?.step,
      ArrowUp: column[place - 1]?.step,
      Home: nodes[0]?.step,
      End: nodes.at(-1)?.step,
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    setFocused(to)
    elements.current.get(to)?.focus()
  }
  return (
    <g role="tree" aria-label="Steps">
      {nodes.map((node) => (
        <rect
          key={node.step}
          ref={(element: SVGElement | null) => {
            if (element !== null) elements.current.set(node.step, element)
          }}
          class="row"
          role="treeitem"
          aria-label={node.label}
          tabIndex={node.step === focused ? 0 : -1}
          x={node.x - 2}
          y={node.y - 2}
          width={node.width + 4}
          height={node.height + 4}
          rx={6}
          onKeyDown={(event) => move(event, node)}
        />
      ))}
    </g>
  )
}
