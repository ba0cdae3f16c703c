import type { GlyphState } from '@belay/graph-view'
import { useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { HealthFinding, OfferedHere } from '../../../src/api.ts'
import { CAPABILITY_OF } from '../../../src/capabilities.ts'
import { Glyph } from '../glyph.tsx'
import { ActionDialog } from '../run/action-dialog.tsx'
import { ActButton } from '../run/tab.tsx'
import { useRun } from '../run/use-run.ts'
import { Copy } from '../shell/copy.tsx'
import { withTimes } from '../shell/times.ts'
import { figure, nameOf } from '../words.ts'

const RUNS_MAX = 3

type Act = (action: OfferedHere) => void

/** What the doctor found, the worst first, each with what helps. */
export function Findings({
  findings,
  now,
}: {
  readonly findings: readonly HealthFinding[]
  /** By the store's clock. */
  readonly now: number
}) {
  const [action, act] = useState<OfferedHere>()
  return (
    <>
      {findings.length === 0 && <InOrder />}
      <ol class="findings">
        {findings.map((finding, index) => (
          <Found key={keyOf(finding, index)} finding={finding} now={now} act={act} />
        ))}
      </ol>
      {/* What was done may end the finding: the dialog stays to tell what came of it. */}
      {action?.run !== undefined && (
        <Acting key={action.run} action={action} runId={action.run} onClose={() => act(undefined)} />
      )}
    </>
  )
}

/** The same as long as it is about the same: its sentence and its commands hold instants, which move with each read. */
function keyOf({ type, query, runs }: HealthFinding, index: number): string {
  return `${type} ${query ?? runs[0] ?? index}`
}

function InOrder() {
  return (
    <p class="line s-completed">
      <Glyph state="completed" />
      <span class="in-order">
        Every live run can go on: each version has a worker with its handlers, nothing is overdue, no undo is
        parked, no queue grows, and the store refuses nothing.
      </span>
    </p>
  )
}

function Acting({
  action,
  runId,
  onClose,
}: {
  readonly action: OfferedHere
  readonly runId: string
  readonly onClose: () => void
}) {
  const { data } = useRun(runId)
  const about =
    data === undefined
      ? nameOf({ id: runId })
      : `${nameOf(data.run)}, ${data.run.workflow} v${data.run.version}`
  return <ActionDialog action={action} runId={runId} about={about} onClose={onClose} />
}

function Found({
  finding,
  now,
  act,
}: {
  readonly finding: HealthFinding
  readonly now: number
  readonly act: Act
}) {
  const { type, sentence, commands } = finding
  const [first, ...rest] = sentencesOf(withTimes(sentence, now))
  return (
    <li>
      <Glyph state={stateOf(type)} label={type.replaceAll('_', ' ')} />
      <div>
        <p class="said">{first}</p>
        {rest.length > 0 && <p class="remedy">{rest.join(' ')}</p>}
        {commands.map((command, index) => (
          <p key={index} class="command">
            <code>{command}</code>
            <Copy text={command} of={command} />
          </p>
        ))}
      </div>
      <Helps finding={finding} act={act} />
    </li>
  )
}

/** The first runs with what may be done about each, and the way to all of them. */
function Helps({
  finding: { runs, keys, actions, query, links = [] },
  act,
}: {
  readonly finding: HealthFinding
  readonly act: Act
}) {
  const others = actions.flatMap(({ run }) => (run === undefined || runs.includes(run) ? [] : [run]))
  const named = [...new Set([...runs, ...others])]
  const shown = named.slice(0, RUNS_MAX)
  const lacking = new Set(actions.flatMap(({ verb, denied }) => (denied ? [CAPABILITY_OF[verb]] : [])))
  return (
    <div class="helps">
      {shown.map((run) => (
        <p key={run}>
          {actions
            .filter((each) => each.run === run)
            .map((each, index) => (
              <ActButton
                key={`${each.verb}${each.step}`}
                action={each}
                act={act}
                isMain={index === 0 && run === shown[0]}
              />
            ))}
          <Link class="run-link" href={`/runs/${run}`} title={run}>
            {nameOf({ id: run, key: keys[run] })}
          </Link>
        </p>
      ))}
      {lacking.size > 0 && <p class="weak">You lack {[...lacking].join(' and ')}.</p>}
      {query !== undefined && (
        <Link class="button" href={`/runs?${query}`}>
          Show its runs
        </Link>
      )}
      {query === undefined && named.length > shown.length && (
        <p class="weak">and {figure(named.length - shown.length)} more</p>
      )}
      {links.map(({ to, words }) => (
        <Link key={to} class="run-link" href={to}>
          {words}
        </Link>
      ))}
    </div>
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
