import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ActionRequest, ActionResult, OfferedHere, RunPage } from '../../../src/api.ts'
import { write } from '../write.ts'
import { nameOf } from '../words.ts'
import { VERBS } from './verbs.ts'

interface DialogProps {
  readonly page: RunPage
  readonly action: OfferedHere
  readonly onClose: () => void
}

/** Nothing is written unseen: the dialog begins with the engine's dry run, asks for a reason, and shows what came of it. */
export function ActionDialog({ page: { run }, action, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const words = VERBS[action.verb]
  const [given, setGiven] = useState('')
  const [reason, setReason] = useState('')
  const [preview, setPreview] = useState<ActionResult>()
  const [result, setResult] = useState<ActionResult>()
  const [isBusy, setBusy] = useState(false)
  const client = useQueryClient()
  const target = action.run ?? run.id

  const send = async (dryRun: boolean): Promise<ActionResult> => {
    const asked =
      words.asks === 'priority' ? { priority: Number(given) } : words.asks && given !== '' ? { payload: given } : {}
    const request: ActionRequest = {
      ...{ verb: action.verb, dryRun, ...asked },
      ...(action.step === undefined ? {} : { step: action.step }),
      ...(dryRun ? {} : { reason: reason.trim() }),
    }
    try {
      return await write<ActionResult>(`runs/${target}/actions`, request)
    } catch (error) {
      return { changed: false, sentence: (error as Error).message, refused: 'error' }
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens once, with the state that the viewer saw.
  useEffect(() => {
    dialog.current?.showModal()
    void send(true).then(setPreview)
  }, [])

  const go = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setResult(await send(false))
    setBusy(false)
    await client.invalidateQueries()
  }

  const done = result !== undefined && result.refused === undefined
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="action-title" onClose={onClose}>
      <form onSubmit={go}>
        <h2 id="action-title">
          {words.title} {action.step}
        </h2>
        <p class="quiet">
          {nameOf(run)}, {run.workflow} v{run.version}
        </p>
        <p class={preview?.refused ? 'outcome refused' : 'outcome'} role="status">
          {result?.sentence ?? preview?.sentence ?? 'Asking what would happen…'}
        </p>
        {!done && (
          <>
            {words.asks && (
              <label>
                {words.asks === 'priority' ? 'Priority, 0 to 1,000' : words.asks === 'output' ? 'Output instead, as JSON' : 'Payload, as JSON'}
                <textarea rows={words.asks === 'priority' ? 1 : 4} value={given} onInput={(event) => setGiven(event.currentTarget.value)} />
              </label>
            )}
            <label>
              Reason, kept in the run’s history
              <input required maxLength={1_000} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
            </label>
          </>
        )}
        <div class="dialog-buttons">
          {!done && (
            <button type="submit" class="button main" disabled={isBusy || preview?.refused !== undefined || reason.trim() === ''}>
              {words.go}
            </button>
          )}
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {done ? 'Close' : 'Leave it'}
          </button>
        </div>
      </form>
    </dialog>
  )
}
