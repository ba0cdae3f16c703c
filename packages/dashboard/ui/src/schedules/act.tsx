import { useEffect, useState } from 'preact/hooks'
import { Link } from 'wouter'
import type {
  ScheduleAction,
  ScheduleActionRequest,
  ScheduleActionResult,
} from '../../../src/api/schedules.ts'
import { CAPABILITY_OF_SCHEDULE } from '../../../src/capabilities.ts'
import { AskDialog, Reason } from '../ask-dialog.tsx'
import { useAsked } from '../asked.ts'
import { MayButton } from '../may-button.tsx'
import { Outcome } from '../outcome.tsx'
import { zone } from '../settings.ts'
import { pageZone } from './zoned.ts'

const WORDS: Readonly<Record<ScheduleAction, { button: string; title: string; go: string }>> = {
  fire: { button: 'Fire now', title: 'Fire now', go: 'Fire it' },
  pause: { button: 'Pause', title: 'Pause', go: 'Pause it' },
  resume: { button: 'Resume', title: 'Resume', go: 'Resume it' },
  backfill: { button: 'Backfill', title: 'Backfill', go: 'Start these runs' },
}

interface ButtonProps {
  readonly action: ScheduleAction
  readonly act: () => void
  /** Which schedule, where several stand together. */
  readonly about?: string
}

export function ActionButton({ action, act, about }: ButtonProps) {
  const { button } = WORDS[action]
  return (
    <MayButton
      capability={CAPABILITY_OF_SCHEDULE[action]}
      label={about && `${button}… ${about}`}
      onClick={act}
    >
      {button}…
    </MayButton>
  )
}

interface DialogProps {
  readonly name: string
  readonly action: ScheduleAction
  readonly onClose: () => void
}

/** It begins with what would happen, and ends with what has. A range is counted before its runs can be started. */
export function ScheduleDialog({ name, action, onClose }: DialogProps) {
  const words = WORDS[action]
  const [reason, setReason] = useState('')
  const [range, setRange] = useState(lastDay)
  const { result, isDone, isBusy, isDoing, send, forget } = useAsked<
    ScheduleActionRequest,
    ScheduleActionResult
  >(`schedules/${encodeURIComponent(name)}/actions`)
  // It opens once, with the state that the viewer saw. A range is counted when it is given.
  useEffect(() => void (action === 'backfill' || send({ action, dryRun: true })), [])
  const isCounted = action !== 'backfill' || (result?.changed === true && result.refused === undefined)
  function given(): Partial<ScheduleActionRequest> {
    if (action === 'pause') return { reason: reason.trim() }
    return action === 'backfill' ? { from: instantOf(range.from), to: instantOf(range.to) } : {}
  }
  return (
    <AskDialog
      title={`${words.title}: ${name}`}
      go={!isDone && (isCounted ? words.go : 'Count the runs')}
      isReady={!(action === 'backfill' ? isBusy : isDoing) && (action !== 'pause' || reason.trim() !== '')}
      onGo={() => void send({ action, ...given(), dryRun: !isCounted })}
      onClose={onClose}
    >
      <Outcome of={result} until="" />
      {result && 'runId' in result && (
        <p>
          <Link class="run-link" href={`/runs/${result.runId}`}>
            Show the run
          </Link>
        </p>
      )}
      {!isDone && action === 'pause' && (
        <Reason reason={reason} onReason={setReason}>
          Reason. The schedule keeps it until it is resumed; your name it does not keep.
        </Reason>
      )}
      {!isDone && action === 'backfill' && (
        <Range
          range={range}
          onRange={(next) => {
            setRange(next)
            forget()
          }}
        />
      )}
    </AskDialog>
  )
}

interface Given {
  readonly from: string
  readonly to: string
}

const MINUTE_MS = 60_000

/** The last day, to the minute, on the clock of the page. */
function lastDay(): Given {
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  return { from: asTyped(now - 24 * 60 * MINUTE_MS), to: asTyped(now) }
}

function asTyped(at: number): string {
  const offsetMs = zone.get() === 'UTC' ? 0 : new Date(at).getTimezoneOffset() * MINUTE_MS
  return new Date(at - offsetMs).toISOString().slice(0, 16)
}

/** 0 for what is no time: the server says what is wrong with such a range. */
function instantOf(typed: string): number {
  return Date.parse(zone.get() === 'UTC' ? `${typed}Z` : typed) || 0
}

function Range({ range, onRange }: { readonly range: Given; readonly onRange: (range: Given) => void }) {
  const field = (name: keyof Given, label: string) => (
    <label>
      {label}, in {pageZone()}
      <input
        type="datetime-local"
        required
        value={range[name]}
        onInput={(event) => onRange({ ...range, [name]: event.currentTarget.value })}
      />
    </label>
  )
  return (
    <>
      {field('from', 'First time')}
      {field('to', 'Last time')}
    </>
  )
}
