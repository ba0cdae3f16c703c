import { drawUnion, layoutGraph, safeText, type UnionNote, type UnitedStep } from '@belay/graph-view'
import { useMemo } from 'preact/hooks'
import { Drawn } from '../drawn.tsx'
import { FindStep } from '../run/find-step.tsx'
import { along } from '../run/graph-tab.tsx'
import { useRoam } from '../run/roam.ts'
import { LARGE, useSeen } from '../run/use-seen.ts'
import { useShape } from '../run/use-settled.ts'
import { useWidth } from '../run/use-width.ts'

/** Two graphs over each other. `noteOf` must stay the same function. */
export function UnionGraph<Step extends UnitedStep>({
  steps,
  noteOf,
  label,
  names: [first, second],
}: {
  readonly steps: readonly Step[]
  readonly noteOf: (step: Step) => UnionNote
  readonly label: string
  readonly names: readonly [string, string]
}) {
  const [host, width] = useWidth()
  const vertical = width < 640
  const isLarge = steps.length >= LARGE
  const view = useSeen(host, !isLarge)
  const { stop, ...roam } = useRoam(host, 'data-step')
  const shape = useShape(steps)
  const layout = useMemo(() => layoutGraph(shape, { vertical }), [shape, vertical])
  const drawing = useMemo(
    () => drawUnion(steps, noteOf, { layout, vertical, view, stop }),
    [steps, noteOf, layout, vertical, view, stop],
  )
  const names = useMemo(() => shape.map(({ name }) => name), [shape])
  return (
    <section>
      <div class="bar">
        <FindStep names={names} onFound={(name) => roam.show(safeText(name))} />
        <span class="weak grow">Arrow keys follow the edges</span>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: for the nodes inside, which are the tab stops. */}
      <div
        ref={host}
        class={isLarge ? 'canvas tall' : 'canvas'}
        onFocusIn={roam.onFocusIn}
        onKeyDown={(event) => roam.onKeyDown(event, along(drawing.nodes))}
      >
        <Drawn drawing={drawing} label={label} role="tree" />
      </div>
      <p class="legend weak">
        A plus and a bold frame or edge: only {second} has it. A minus and a dashed one: only {first}. An
        unequal sign: both have the step, and it differs.
      </p>
    </section>
  )
}
