import { type ComparedStep, drawPair, type ViewRun } from '@belay/graph-view'
import { useMemo, useState } from 'preact/hooks'
import { Drawn } from '../drawn.tsx'
import { useWidth } from '../run/use-width.ts'
import { figure } from '../words.ts'

/** Nobody looks through more rows; the table has all steps. */
const ROWS_MAX = 200

/** Each step of both runs beneath each other, on one scale. */
export function PairTimeline({
  steps,
  a,
  b,
}: {
  readonly steps: readonly ComparedStep[]
  readonly a: ViewRun
  readonly b: ViewRun
}) {
  const [host, width] = useWidth()
  const [fold, setFold] = useState(true)
  const isLong = steps.length > ROWS_MAX
  const shown = useMemo(
    () => (isLong ? steps.filter(({ differs }) => differs.length > 0).slice(0, ROWS_MAX) : steps),
    [steps, isLong],
  )
  const drawing = useMemo(() => drawPair(shown, { a, b }, { width, fold }), [shown, a, b, width, fold])
  return (
    <section>
      <div class="bar">
        <label class="check">
          <input type="checkbox" checked={fold} onChange={() => setFold(!fold)} /> Fold idle time
        </label>
        {isLong && (
          <span class="weak">
            {figure(shown.length)} of {figure(steps.length)} steps: the first that differ
          </span>
        )}
      </div>
      <div ref={host} class="canvas">
        <Drawn drawing={drawing} label="Timelines of A and B, from the begin of each" role="img" />
      </div>
      <p class="legend weak">
        A hollow bar is an attempt that failed and was followed by another; a thin one is a wait, or the undo,
        which has its sign at its end. The table below says the same.
      </p>
    </section>
  )
}
