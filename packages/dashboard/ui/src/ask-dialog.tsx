import type { ComponentChildren } from 'preact'
import { Dialog } from './dialog.tsx'

interface ButtonsProps {
  /** The words on the button that does it. False if there is nothing to do, or no more. */
  readonly go: string | false
  readonly isReady: boolean
  /** The words on the button that closes the dialog. */
  readonly leave?: string
}

interface DialogProps extends ButtonsProps {
  readonly title: string
  readonly onGo: () => void
  readonly onClose: () => void
  readonly class?: string
  readonly children: ComponentChildren
}

/** A dialog with a form: what it asks for, and the button that does it. */
export function AskDialog({ title, onGo, onClose, class: looks, children, ...buttons }: DialogProps) {
  const submit = (event: Event) => {
    event.preventDefault()
    onGo()
  }
  return (
    <Dialog label={title} class={looks ?? ''} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 class="anywhere">{title}</h2>
        {children}
        <DialogButtons {...buttons} />
      </form>
    </Dialog>
  )
}

export function DialogButtons({ go, isReady, leave = go === false ? 'Close' : 'Leave it' }: ButtonsProps) {
  return (
    <div class="dialog-buttons">
      {go !== false && (
        <button type="submit" class="button main" disabled={!isReady}>
          {go}
        </button>
      )}
      <button
        type="button"
        class="button"
        onClick={(event) => event.currentTarget.closest('dialog')?.close()}
      >
        {leave}
      </button>
    </div>
  )
}

interface ReasonProps {
  readonly reason: string
  readonly onReason: (reason: string) => void
  /** Who keeps it. */
  readonly children: ComponentChildren
}

export function Reason({ reason, onReason, children }: ReasonProps) {
  return (
    <label>
      <span>
        {children} <b>(needed)</b>
      </span>
      <input
        required
        maxLength={1_000}
        value={reason}
        onInput={(event) => onReason(event.currentTarget.value)}
      />
    </label>
  )
}
