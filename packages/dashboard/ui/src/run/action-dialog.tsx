import { useEffect, useState } from 'preact/hooks'
import type { ActionRequest, ActionResult, OfferedHere } from '../../../src/api.ts'
import { AskDialog, Reason } from '../ask-dialog.tsx'
import { useAsked } from '../asked.ts'
import { Outcome } from '../outcome.tsx'
import { VERBS } from './verbs.ts'

interface DialogProps {
  readonly action: OfferedHere
  /** The run, unless the action is about another. */
  readonly runId: string
  /** Which run that is. */
  readonly about: string
  readonly onClose: () => void
}

/** Nothing is written unseen: the dialog begins with the engine's dry run, asks for a reason, and shows what came of it. */
export function ActionDialog({ action, runId, about, onClose }: DialogProps) {
  const { verb, step } = action
  const {
    title,
    go,
    asks,
    noReason = false,
    reason: kept = 'Reason, kept in the run’s history',
  } = VERBS[verb]
  const [typed, type] = useState('')
  const [reason, setReason] = useState('')
  const { result, isDone, isDoing, send } = useAsked<ActionRequest>(`runs/${action.run ?? runId}/actions`)
  const request = {
    ...{ verb, ...(step && { step }) },
    ...(asks === 'priority' ? { priority: Number(typed) } : typed && { payload: typed }),
  }
  // It opens once, with the state that the viewer saw.
  useEffect(() => void send({ ...request, dryRun: true }), [])
  return (
    <AskDialog
      title={step === undefined ? title : `${title} ${step}`}
      go={!isDone && go}
      isReady={!isDoing && (noReason || reason.trim() !== '')}
      onGo={() => void send({ ...request, dryRun: false, ...(!noReason && { reason: reason.trim() }) })}
      onClose={onClose}
    >
      <p class="weak">{about}</p>
      <Outcome of={result} />
      {!isDone && asks && <Field asks={asks} typed={typed} type={type} issues={result?.issues} />}
      {!isDone && !noReason && (
        <Reason reason={reason} onReason={setReason}>
          {kept}
        </Reason>
      )}
    </AskDialog>
  )
}

const LABELS = {
  payload: 'Payload, as JSON',
  output: 'Its output instead, as JSON',
  priority: 'Priority, from 0 to 1,000',
} as const

interface FieldProps {
  readonly asks: keyof typeof LABELS
  readonly typed: string
  readonly type: (typed: string) => void
  readonly issues: ActionResult['issues']
}

function Field({ asks, typed, type, issues = [] }: FieldProps) {
  return (
    <>
      <label>
        {LABELS[asks]}
        <textarea
          rows={asks === 'priority' ? 1 : 4}
          value={typed}
          aria-invalid={issues.length > 0}
          aria-describedby={issues.length > 0 ? 'issues' : undefined}
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>
      {issues.length > 0 && (
        <ul id="issues" class="issues s-failed">
          {issues.map(({ path, message }) => (
            <li key={path + message}>
              {path && <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
