import { drawGraph, drawTimeline } from '@belay/graph-view'
import { Drawn } from '../../../packages/dashboard/ui/src/drawn.tsx'
import { useWidth } from '../../../packages/dashboard/ui/src/run/use-width.ts'
import type { Playground, State } from './state.ts'

/** The selected run: why, the buttons that help, its graph and its timeline. */
export function RunView({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  const [host, width] = useWidth()
  const { look } = state
  if (look === undefined) return <div class="run-view" ref={host} />
  const { run, why, open } = look
  const at = run.finishedAt ?? run.readAt
  const name = run.key ?? run.id
  return (
    <div class="run-view" ref={host}>
      <p class="why" aria-live="polite">
        {why}
      </p>
      <p class="actions">
        {open.flatMap(({ step, actions }) =>
          actions.map(({ verb }) => (
            <button
              key={`${step} ${verb}`}
              type="button"
              class="button"
              onClick={() => void playground.act(verb, step)}
            >
              {verb} {step}
            </button>
          )),
        )}
      </p>
      <Drawn
        drawing={drawGraph(run, { at, order: run.stoppedAt !== undefined, vertical: width < 640 })}
        label={`Graph of ${name}`}
        role="tree"
      />
      <Drawn drawing={drawTimeline(run, { at, width, fold: true })} label={`Timeline of ${name}`} />
    </div>
  )
}
