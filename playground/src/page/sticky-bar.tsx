import { Refusal, useAsked } from './asked.tsx'
import type { State } from './model.ts'
import type { Playground } from './state.ts'
import { mayCrash } from './workers.tsx'

/** On a narrow page: what is pressed most, always in reach. */
export function StickyBar({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  const { refusal, ask } = useAsked()
  return (
    <nav class="sticky-bar" aria-label="In reach">
      <Refusal of={refusal} />
      <button
        type="button"
        class="button main"
        data-tour="start"
        disabled={state.phase !== 'playing'}
        onClick={() => void ask(() => playground.start(1))}
      >
        Start
      </button>
      <span>Crash</span>
      {state.workers.filter(mayCrash).map(({ name, steps }) => (
        <button
          key={name}
          type="button"
          class={steps.length > 0 ? 'button busy' : 'button'}
          data-worker={name}
          aria-label={`${name}: crash this worker`}
          onClick={() => void ask(() => playground.crash(name))}
        >
          {name}
        </button>
      ))}
    </nav>
  )
}
