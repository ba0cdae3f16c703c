import { drawStrip } from '@belay/graph-view'
import type { ListedStep } from '../../src/api.ts'
import { elementOf } from './drawn.tsx'

/** The steps of a run in one line: forward above, undo beneath. `quiet`: a run that has ended well does not call. */
export function Strip({ steps, quiet }: { readonly steps: readonly ListedStep[]; readonly quiet: boolean }) {
  const { width, height, shapes, label } = drawStrip(steps, undefined, { pale: quiet })
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      {shapes.map(elementOf)}
    </svg>
  )
}
