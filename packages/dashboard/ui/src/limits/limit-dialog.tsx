import { useEffect, useState } from 'preact/hooks'
import type { LimitActionRequest, LimitPage } from '../../../src/api/limits.ts'
import { AskDialog, Reason } from '../ask-dialog.tsx'
import { useAsked } from '../asked.ts'
import { Outcome } from '../outcome.tsx'
import { span } from '../words.ts'

interface DialogProps {
  readonly limit: LimitPage
  readonly onClose: () => void
}

const TYPING_MS = 300

/** A number and a reason: what the number would do is told while it is typed. */
export function LimitDialog({ limit, onClose }: DialogProps) {
  const { name, slots, rate } = limit
  const [typed, type] = useState(String(slots ?? rate?.limit ?? 0))
  const [isReset, reset] = useState(false)
  const [reason, setReason] = useState('')
  const { result, isDone, isBusy, send, forget } = useAsked<LimitActionRequest>(
    `limits/${encodeURIComponent(name)}/actions`,
  )
  const asked = isReset
    ? ({ action: 'reset' } as const)
    : ({ action: 'set', limit: typed === '' ? -1 : Number(typed) } as const)
  useEffect(() => {
    // What was told of another number says nothing about this one.
    forget()
    const timer = setTimeout(() => void send({ ...asked, dryRun: true }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed, isReset])
  return (
    <AskDialog
      title={`Change ${name}`}
      go={!isDone && 'Change it'}
      isReady={!isBusy && reason.trim() !== '' && result?.changed === true}
      onGo={() => void send({ ...asked, dryRun: false, reason: reason.trim() })}
      onClose={onClose}
    >
      {!isDone && <Setting limit={limit} typed={typed} isReset={isReset} type={type} reset={reset} />}
      <Outcome of={result} />
      {!isDone && (
        <Reason reason={reason} onReason={setReason}>
          Reason. This process shows it beside the limit until it ends; the store keeps none.
        </Reason>
      )}
    </AskDialog>
  )
}

interface SettingProps {
  readonly limit: LimitPage
  readonly typed: string
  readonly isReset: boolean
  readonly type: (typed: string) => void
  readonly reset: (isReset: boolean) => void
}

function Setting({ limit: { rate, declared }, typed, isReset, type, reset }: SettingProps) {
  return (
    <>
      <label>
        {rate === undefined ? 'Slots of each key' : `How many begin in each ${span(rate.perMs)}`}, 0 lets
        nobody in
        <input
          type="number"
          min="0"
          max="100000"
          value={typed}
          disabled={isReset}
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>
      {declared !== undefined && (
        <label class="check">
          <input type="checkbox" checked={isReset} onChange={() => reset(!isReset)} />
          What code declares
        </label>
      )}
    </>
  )
}
