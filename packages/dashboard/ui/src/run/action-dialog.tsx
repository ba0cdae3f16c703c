import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ActionRequest, ActionResult, OfferedHere } from '../../../src/api.ts'
import { Dialog } from '../dialog.tsx'
import { withTimes } from '../shell/times.ts'
import { write } from '../write.ts'
import { VERBS, type VerbWords } from './verbs.ts'

interface DialogProps {
  readonly action: OfferedHere
  /** The run, unless the action is about another. */
  readonly runId: string
  /** Which run that is. */
  readonly about: string
  readonly onClose: () => void
}

/** What was typed. */
interface Given {
  readonly asked: string
  readonly reason: string
}

/** Nothing is written unseen: the dialog begins with the engine's dry run, asks for a reason, and shows what came of it. */
export function ActionDialog({ action, runId, about, onClose }: DialogProps) {
  const form = useRef<HTMLFormElement>(null)
  const words = VERBS[action.verb]
  const [given, setGiven] = useState<Given>({ asked: '', reason: '' })
  const { result, isDone, isBusy, go } = useAction(action.run ?? runId, action, given)
  const isRefused = result?.refused !== undefined
  const isReady = words.noReason === true || given.reason.trim() !== ''
  const submit = (event: Event) => {
    event.preventDefault()
    void go()
  }
  return (
    <Dialog label={`${words.title} ${action.step ?? ''}`} onClose={onClose}>
      <form ref={form} onSubmit={submit}>
        <h2>
          {words.title} {action.step}
        </h2>
        <p class="weak">{about}</p>
        <p class={isRefused ? 'outcome refused' : 'outcome'} role="status">
          {result ? withTimes(result.sentence) : 'Asking what would happen…'}
        </p>
        {!isDone && <Fields words={words} given={given} issues={result?.issues} onGiven={setGiven} />}
        <div class="dialog-buttons">
          {!isDone && (
            <button type="submit" class="button main" disabled={isBusy || !isReady}>
              {words.go}
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

/** The dry run at once, and the action when it is asked for. */
function useAction(runId: string, { verb, step }: OfferedHere, { asked, reason }: Given) {
  const words = VERBS[verb]
  const [result, setResult] = useState<ActionResult>()
  const [isDone, setDone] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const client = useQueryClient()
  const send = async (dryRun: boolean): Promise<ActionResult> => {
    const own =
      words.asks === 'priority' ? { priority: Number(asked) } : asked === '' ? {} : { payload: asked }
    const request: ActionRequest = {
      ...{ verb, dryRun, ...own },
      ...(step === undefined ? {} : { step }),
      ...(dryRun || words.noReason ? {} : { reason: reason.trim() }),
    }
    return write<ActionResult>(`runs/${runId}/actions`, request).catch((error: Error) => ({
      changed: false,
      sentence: error.message,
      refused: 'error',
    }))
  }
  const go = async () => {
    setBusy(true)
    const outcome = await send(false)
    setResult(outcome)
    setDone(outcome.refused === undefined)
    setBusy(false)
    await client.invalidateQueries()
  }
  // It opens once, with the state that the viewer saw.
  useEffect(() => void send(true).then(setResult), [])
  return { result, isDone, isBusy, go }
}

const LABELS = {
  payload: 'Payload, as JSON',
  output: 'Its output instead, as JSON',
  priority: 'Priority, from 0 to 1,000',
} as const

function Fields({
  words: { asks, noReason, reason = 'Reason, kept in the run’s history' },
  given,
  issues = [],
  onGiven,
}: {
  readonly words: VerbWords
  readonly given: Given
  readonly issues: ActionResult['issues']
  readonly onGiven: (given: Given) => void
}) {
  return (
    <>
      {asks && (
        <label>
          {LABELS[asks]}
          <textarea
            rows={asks === 'priority' ? 1 : 4}
            value={given.asked}
            aria-invalid={issues.length > 0}
            aria-describedby={issues.length > 0 ? 'issues' : undefined}
            onInput={(event) => onGiven({ ...given, asked: event.currentTarget.value })}
          />
        </label>
      )}
      {issues.length > 0 && (
        <ul id="issues" class="issues s-failed">
          {issues.map(({ path, message }) => (
            <li key={path + message}>
              {path && <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
      {!noReason && (
        <label>
          {reason}
          <input
            required
            maxLength={1_000}
            value={given.reason}
            onInput={(event) => onGiven({ ...given, reason: event.currentTarget.value })}
          />
        </label>
      )}
    </>
  )
}
