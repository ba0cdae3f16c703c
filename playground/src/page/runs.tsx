import { glyphOf, stateClass } from '@belay/graph-view'
import { Glyph } from '../../../packages/dashboard/ui/src/glyph.tsx'
import { wordOf } from '../../../packages/dashboard/ui/src/status.ts'
import { nameOf } from '../../../packages/dashboard/ui/src/words.ts'
import type { State } from './model.ts'
import { versionText } from './readable.ts'
import { roam, type Way } from './roam.ts'
import type { Playground } from './state.ts'

/** The newest runs in one line, with one tab stop; the selected one is shown below. */
export function RunList({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  const { runs, selected } = state
  const stop = runs.some(({ id }) => id === selected) ? selected : runs[0]?.id
  return (
    <section class="run-list" aria-label="Runs">
      <h2>Runs</h2>
      {runs.length === 0 && <p class="weak">No run yet: start one.</p>}
      <ul onKeyDown={(event) => roam(event, '.chip', sideways)}>
        {runs.map((run) => (
          <li key={run.id}>
            <button
              type="button"
              class={`chip ${stateClass(glyphOf(run.status))}`}
              aria-pressed={run.id === selected}
              title={wordOf(run.status)}
              tabIndex={run.id === stop ? 0 : -1}
              onClick={() => playground.select(run.id)}
            >
              <Glyph state={glyphOf(run.status)} />
              {nameOf(run)}
              {run.version > 1 && <span class="weak">{versionText(run.version)}</span>}
              <span class="sr">, {wordOf(run.status)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Right and left, to the first and to the last. */
const sideways: Way = (elements, from, key) => {
  const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: elements.length - 1 }[key]
  return to === undefined ? undefined : elements[to]
}
