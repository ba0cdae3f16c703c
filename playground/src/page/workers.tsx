import type { Playground, State, WorkerState } from './state.ts'
import { useNow } from './use-now.ts'

const LEASE_MS = 3_000

const WORDS = { opening: 'starts', live: 'works', frozen: 'frozen', crashed: 'gone' } as const

/** The threads that execute steps, and what can be done to them. */
export function Workers({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  return (
    <section class="workers" aria-label="Workers">
      <ul>
        {state.workers.map((worker) => (
          <li key={worker.name} class={`worker ${worker.state}`}>
            <WorkerCard worker={worker} playground={playground} />
          </li>
        ))}
      </ul>
      <button
        type="button"
        class="button"
        disabled={state.phase !== 'playing'}
        onClick={() => void playground.addWorker()}
      >
        Add a worker
      </button>
    </section>
  )
}

function WorkerCard({
  worker,
  playground,
}: {
  readonly worker: WorkerState
  readonly playground: Playground
}) {
  const { name, state, steps } = worker
  const isOff = state !== 'live'
  return (
    <>
      <b>Worker {name}</b> <span class="weak">{WORDS[state]}</span> <Countdown worker={worker} />
      <p>
        {steps.length === 0
          ? '—'
          : steps.map(({ step, direction }) => (direction === 'undo' ? `undo of ${step}` : step)).join(', ')}
      </p>
      <button type="button" class="button danger" disabled={isOff} onClick={() => playground.crash(name)}>
        Crash
      </button>
      <button type="button" class="button" disabled={isOff} onClick={() => playground.freeze(name)}>
        Freeze
      </button>
    </>
  )
}

/** How long its lease still holds others back, at most. */
function Countdown({ worker: { state, since } }: { readonly worker: WorkerState }) {
  const now = useNow(100)
  const left = since + LEASE_MS - now
  if ((state !== 'crashed' && state !== 'frozen') || left < 0) return null
  return <span class="s-failed">its lease ends in {(left / 1_000).toFixed(1)} s</span>
}
