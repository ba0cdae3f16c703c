import { Link } from 'wouter'
import type { RunPage } from '../../../src/api.ts'
import { Answer } from '../answer.tsx'
import { Icon } from '../icons.tsx'
import { RunHeader } from '../run/header.tsx'
import { useRun } from '../run/use-run.ts'
import { withTimes } from '../shell/times.ts'
import { instant } from '../words.ts'

/** A run beside the list: enough to decide whether to open it. */
export function Peek({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const run = useRun(id)
  return (
    <aside class="peek" aria-label="Peek at a run">
      <div class="bar">
        <Link class="button" href={`/runs/${id}`}>
          Open
        </Link>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <Answer of={run}>
        {(page: RunPage) => (
          <>
            <RunHeader page={page} level="h2" />
            <OpenSteps page={page} />
          </>
        )}
      </Answer>
    </aside>
  )
}

/** Each open step with its sentence. */
function OpenSteps({ page: { open, run } }: { readonly page: RunPage }) {
  if (open.length === 0) return null
  return (
    <section>
      <h3>Open steps</h3>
      <ul class="opens">
        {open.map(({ step, sentence, until }) => (
          <li key={step}>
            {withTimes(sentence, run.readAt)}
            {until !== undefined && <span class="weak"> Until {instant(until, run.readAt)}.</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}
