import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly label: string
  readonly class?: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A modal dialog, open as long as it is rendered. Focus returns to where it was. */
export function Dialog({ label, class: looks = '', onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => ref.current?.showModal(), [])
  return (
    <dialog
      ref={ref}
      class={looks}
      aria-label={label}
      onClose={onClose}
      // The dialog itself is hit only beside its content.
      onClick={(event) => event.target === ref.current && ref.current?.close()}
      onKeyDown={(event) => event.key === 'Escape' && ref.current?.close()}
    >
      <div class="inside">{children}</div>
    </dialog>
  )
}
