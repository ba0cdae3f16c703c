import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Link } from 'wouter'
import type {
  ScheduleAction,
  ScheduleActionRequest,
  ScheduleActionResult,
} from '../../../src/api/schedules.ts'
import type { Session } from '../../../src/api.ts'
import { CAPABILITY_OF_SCHEDULE } from '../../../src/capabilities.ts'
import { downSince } from '../answer.tsx'
import { Dialog } from '../dialog.tsx'
import { useLive } from '../live.ts'
import { zone } from '../settings.ts'
import { withTimes } from '../shell/times.ts'
import { useCell } from '../stored.ts'
import { write } from '../write.ts'
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
  const session = useLive<Session>('session')
  const isStale = useCell(downSince) !== undefined
  const capability = CAPABILITY_OF_SCHEDULE[action]
  const isDenied = session.data !== undefined && !session.data.can.includes(capability)
  const title = isDenied
    ? `You may not do this here: you lack ${capability}. Ask whoever runs this dashboard for it.`
    : undefined
  const { button } = WORDS[action]
  return (
    <button
      type="button"
      class="button"
      disabled={isStale || isDenied || session.data === undefined}
      title={title}
      aria-label={about && `${button}… ${about}`}
      onClick={act}
    >
      {button}…
    </button>
  )
}

interface DialogProps {
  readonly name: string
  readonly action: ScheduleAction
  readonly onClose: () => void
}

/** It begins with what would happen, and ends with what has. A range is counted before its runs can be started. */
export function ScheduleDialog({ name, action, onClose }: DialogProps) {
  const form = useRef<HTMLFormElement>(null)
  const words = WORDS[action]
  const [reason, setReason] = useState('')
  const [range, setRange] = useState(lastDay)
  const { result, isDone, isBusy, send, forget } = useAsked(name, { action, ...given() })
  const isCounted = action !== 'backfill' || (result?.changed === true && result.refused === undefined)
  function given(): Partial<ScheduleActionRequest> {
    if (action === 'pause') return { reason: reason.trim() }
    return action === 'backfill' ? { from: instantOf(range.from), to: instantOf(range.to) } : {}
  }
  const submit = (event: Event) => {
    event.preventDefault()
    void send(!isCounted)
  }
  const isReady = action !== 'pause' || reason.trim() !== ''
  return (
    <Dialog label={`${words.title} ${name}`} onClose={onClose}>
      <form ref={form} onSubmit={submit}>
        <h2 class="anywhere">
          {words.title}: {name}
        </h2>
        <Outcome result={result} />
        {!isDone && action === 'pause' && <Reason reason={reason} onReason={setReason} />}
        {!isDone && action === 'backfill' && (
          <Range
            range={range}
            onRange={(next) => {
              setRange(next)
              forget()
            }}
          />
        )}
        <div class="dialog-buttons">
          {!isDone && (
            <button type="submit" class="button main" disabled={isBusy || !isReady}>
              {isCounted ? words.go : 'Count the runs'}
            </button>
          )}
          <button type="button" class="button" onClick={() => form.current?.closest('dialog')?.close()}>
            {isDone ? 'Close' : 'Leave it'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function useAsked(name: string, asked: Omit<ScheduleActionRequest, 'dryRun'>) {
  const [result, setResult] = useState<ScheduleActionResult>()
  const [isDone, setDone] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const client = useQueryClient()
  const send = async (dryRun: boolean) => {
    setBusy(true)
    const { reason, ...rest } = asked
    const request: ScheduleActionRequest = {
      ...{ ...rest, dryRun },
      ...(dryRun || reason === undefined ? {} : { reason }),
    }
    const path = `schedules/${encodeURIComponent(name)}/actions`
    const outcome = await write<ScheduleActionResult>(path, request).catch((error: Error) => ({
      ...{ changed: false, sentence: error.message, refused: 'error' },
    }))
    setResult(outcome)
    setDone(!dryRun && outcome.refused === undefined)
    setBusy(false)
    if (!dryRun) await client.invalidateQueries()
  }
  // It opens once, with the state that the viewer saw. A range is counted when it is given.
  useEffect(() => void (asked.action === 'backfill' || send(true)), [])
  return { result, isDone, isBusy, send, forget: () => setResult(undefined) }
}

function Outcome({ result }: { readonly result: ScheduleActionResult | undefined }) {
  return (
    <>
      <p class={result?.refused === undefined ? 'outcome' : 'outcome refused'} role="status">
        {result && withTimes(result.sentence)}
      </p>
      {result?.runId && (
        <p>
          <Link class="run-link" href={`/runs/${result.runId}`}>
            Show the run
          </Link>
        </p>
      )}
    </>
  )
}

function Reason({
  reason,
  onReason,
}: {
  readonly reason: string
  readonly onReason: (reason: string) => void
}) {
  return (
    <label>
      Reason. The schedule keeps it until it is resumed; your name it does not keep.
      <input
        required
        maxLength={1_000}
        value={reason}
        onInput={(event) => onReason(event.currentTarget.value)}
      />
    </label>
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
