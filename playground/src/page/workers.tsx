import { useNow } from '../../../packages/dashboard/ui/src/use-now.ts'
import { Refusal, useAsked } from './asked.tsx'
import type { Held, State, WorkerState } from './model.ts'
import type { Playground } from './state.ts'

const LEASE_MS = 3_000
const WORKERS_MAX = 6

const WORDS = { opening: 'starts', live: 'works', frozen: 'frozen', crashed: 'gone' } as const
const LOOKS = { opening: 's-pending', live: 's-completed', frozen: 's-paused', crashed: 's-failed' } as const

/** The threads that execute steps, and what can be done to them. */
export function Workers({ playground, state }: { readonly playground: Playground; readonly state: State }) {
  const { refusal, ask } = useAsked()
  const { workers } = state
  const left = workers.filter(({ state }) => state !== 'crashed').length
  const isFull = left >= WORKERS_MAX
  const isAlone = workers.length > 0 && left === 0
  return (
    <section class="workers" aria-label="Workers">
      <div class="panel-head">
        <h2>Workers</h2>
        <button
          type="button"
          class={isAlone ? 'button main' : 'button'}
          disabled={state.phase !== 'playing' || isFull}
          title={isFull ? 'Six is all that this page takes.' : undefined}
          onClick={() => void ask(() => playground.addWorker())}
        >
          Add a worker
        </button>
      </div>
      <Refusal of={refusal} />
      {isAlone && (
        <p class="nobody" role="status">
          No worker is left: add one, and it takes over once the leases have ended.
        </p>
      )}
      <ul>
        {workers.map((worker) => (
          <li key={worker.name} class={`worker ${worker.state}`}>
            <WorkerLine {...{ worker, playground, state }} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function WorkerLine({
  worker,
  playground,
  state: { runs },
}: {
  readonly worker: WorkerState
  readonly playground: Playground
  readonly state: State
}) {
  const { name, state, steps } = worker
  const { refusal, ask } = useAsked()
  return (
    <>
      <div class="row">
        <b>{name}</b>
        <span class={`worker-state ${LOOKS[state]}`}>{WORDS[state]}</span>
        <span class="grow" />
        <button
          type="button"
          class="button danger"
          data-worker={name}
          aria-label={`Crash worker ${name}`}
          disabled={!mayCrash(worker)}
          onClick={() => void ask(() => playground.crash(name))}
        >
          Crash
        </button>
        <button
          type="button"
          class="button"
          aria-label={`Freeze worker ${name}`}
          disabled={state !== 'live'}
          onClick={() => void ask(() => playground.freeze(name))}
        >
          Freeze
        </button>
      </div>
      <p class="holds">
        {steps.length === 0 ? (
          <span class="weak">{state === 'crashed' ? 'holds no step any more' : 'waits for a step'}</span>
        ) : (
          <span class="cut-off">{steps.map((held) => heldText(held, runs)).join(', ')}</span>
        )}
        <Countdown worker={worker} />
      </p>
      <Refusal of={refusal} />
    </>
  )
}

export function mayCrash({ state }: WorkerState): boolean {
  return state === 'live' || state === 'frozen'
}

function heldText({ runId, step, direction }: Held, runs: State['runs']): string {
  const of = runs.find(({ id }) => id === runId)?.key
  const what = direction === 'undo' ? `undoes ${step}` : step
  return of === undefined ? what : `${what} of ${of}`
}

/** How long its lease still holds others back, at most; gone once another has taken its steps over. */
function Countdown({ worker: { state, since, steps } }: { readonly worker: WorkerState }) {
  const now = useNow(100)
  if ((state !== 'crashed' && state !== 'frozen') || steps.length === 0) return null
  const left = since + LEASE_MS - now
  return (
    <span class="countdown">
      {left > 0 ? `lease ends in ${(left / 1_000).toFixed(1)} s` : 'lease over'}
      <progress value={Math.max(0, left)} max={LEASE_MS} aria-hidden="true" />
    </span>
  )
}
