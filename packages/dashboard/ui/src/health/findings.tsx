import type { GlyphState } from '@belay/graph-view'
import { Link } from 'wouter'
import type { HealthFinding } from '../../../src/api.ts'
import { Glyph } from '../glyph.tsx'
import { figure, shortId } from '../words.ts'

const RUNS_MAX = 3

/** What the doctor found, the worst first. */
export function Findings({ findings }: { readonly findings: readonly HealthFinding[] }) {
  if (findings.length === 0)
    return (
      <p class="line s-completed">
        <Glyph state="completed" />
        <span class="in-order">
          Every live run can go on: each version has a worker with its handlers, nothing is overdue, no undo
          is parked, no queue grows, and the store refuses nothing.
        </span>
      </p>
    )
  return (
    <ol class="findings">
      {findings.map((finding) => (
        <Found key={`${finding.type} ${finding.sentence}`} finding={finding} />
      ))}
    </ol>
  )
}

function Found({ finding: { type, sentence, runs } }: { readonly finding: HealthFinding }) {
  const [first, ...rest] = sentencesOf(sentence)
  const more = runs.length - RUNS_MAX
  return (
    <li>
      <Glyph state={stateOf(type)} label={type.replaceAll('_', ' ')} />
      <div>
        <p class="said">{first}</p>
        {rest.length > 0 && <p class="remedy">{rest.join(' ')}</p>}
      </div>
      {runs.length > 0 && (
        <p class="named">
          {runs.slice(0, RUNS_MAX).map((run) => (
            <Link key={run} href={`/runs/${run}`}>
              <code>{shortId(run)}</code>
            </Link>
          ))}
          {more > 0 && <span class="weak">and {figure(more)} more</span>}
        </p>
      )}
    </li>
  )
}

/** What is the matter, then the remedy. */
function sentencesOf(text: string): readonly string[] {
  return text.split(/(?<=[.!?…])\s+(?=[A-Z“"])/)
}

const STATES: Readonly<Record<string, GlyphState>> = {
  parked_runs: 'parked',
  paused_runs: 'paused',
  version_without_worker: 'ready',
  overdue_steps: 'ready',
  no_free_slots: 'ready',
  growing_queue: 'ready',
  stranded_step: 'failed',
  dead_worker: 'failed',
  failing_runs: 'failed',
  late_schedules: 'scheduled',
  failing_schedules: 'scheduled',
  schedule_without_worker: 'scheduled',
  closed_limit: 'paused',
  stalled_limit: 'waiting',
  limit_circle: 'waiting',
  partly_checked: 'pending',
}

/** One that is new to this page is as bad as a failure. */
function stateOf(type: string): GlyphState {
  return STATES[type] ?? 'failed'
}
