import { Status } from '../../../packages/dashboard/ui/src/glyph.tsx'
import type { Playground, State } from './state.ts'

/** The newest runs; the selected one is shown below. */
export function RunList({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  return (
    <section class="runs" aria-label="Runs">
      {state.runs.length === 0 && <p class="weak">No run yet: start one.</p>}
      <ul>
        {state.runs.map(({ id, key, status, version }) => (
          <li key={id}>
            <button
              type="button"
              class="run"
              aria-pressed={id === state.selected}
              onClick={() => playground.select(id)}
            >
              <Status status={status} /> {key ?? id.slice(0, 8)}
              {version > 1 && <span class="weak"> v{version}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
