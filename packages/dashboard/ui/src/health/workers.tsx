import type { GlyphState } from '@belay/graph-view'
import type { Health } from '../../../src/api.ts'
import { Glyph } from '../glyph.tsx'
import { age } from '../words.ts'

type Worker = Health['workers'][number]

interface WorkersProps {
  readonly workers: readonly Worker[]
  /** By the store's clock. */
  readonly now: number
}

export function Workers({ workers, now }: WorkersProps) {
  return (
    <section id="workers">
      <h2>Workers</h2>
      {workers.length === 0 ? (
        <p class="weak">No worker is known to this store. Start one, and runs go on.</p>
      ) : (
        <ul class="workers">
          {workers.map((worker) => (
            <One key={worker.id} worker={worker} now={now} />
          ))}
        </ul>
      )}
    </section>
  )
}

const SHOWN = {
  live: ['completed', 'Live'],
  expired: ['waiting', 'Expired'],
  dead: ['failed', 'Dead'],
} as const satisfies Record<Worker['status'], readonly [GlyphState, string]>

function One({ worker, now }: { readonly worker: Worker; readonly now: number }) {
  const [state, word] = SHOWN[worker.status]
  const { slots, busy = 0, renewedAt } = worker
  return (
    <li>
      <span class={`status s-${state}`}>
        <Glyph state={state} />
        {word}
      </span>
      <span class="cut-off">
        <b>{worker.name}</b> <span class="weak">{worker.host}</span>
      </span>
      <Slots slots={slots} busy={busy} />
      <span class="cut-off weak" title={worker.workflows.join(', ')}>
        {worker.workflows.join(', ')}
      </span>
      <span class="weak">{renewedAt !== undefined && `seen ${age(now - renewedAt)} ago`}</span>
    </li>
  )
}

const DRAWN_MAX = 32

/** Each slot as a box, filled while a step runs in it; of many only the numbers. */
function Slots({ slots, busy }: { readonly slots: number | undefined; readonly busy: number }) {
  if (slots === undefined) return <span class="slots" />
  return (
    <span class="slots">
      {slots <= DRAWN_MAX &&
        Array.from({ length: slots }, (_, slot) => (
          <i key={slot} class={slot < busy ? 'full' : ''} aria-hidden="true" />
        ))}
      <span>
        {busy} of {slots}
      </span>
    </span>
  )
}
