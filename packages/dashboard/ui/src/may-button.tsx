import type { ComponentChildren } from 'preact'
import type { Session } from '../../src/api.ts'
import type { Capability } from '../../src/capability.ts'
import { downSince } from './answer.tsx'
import { useLive } from './live.ts'
import { useCell } from './stored.ts'

interface MayProps {
  readonly capability: Capability
  readonly onClick: () => void
  /** The label, where several buttons with the same words stand together. */
  readonly label?: string | undefined
  readonly class?: string
  readonly children: ComponentChildren
}

/** A button for those who have the capability. What a viewer may not do is shown and says so; while the store is silent it is off. */
export function MayButton({ capability, onClick, label, class: looks = 'button', children }: MayProps) {
  const session = useLive<Session>('session')
  const isStale = useCell(downSince) !== undefined
  const isDenied = session.data?.can.includes(capability) === false
  return (
    <button
      type="button"
      class={looks}
      disabled={isStale || isDenied || session.data === undefined}
      title={
        isDenied
          ? `You may not do this here: you lack ${capability}. Ask whoever runs this dashboard for it.`
          : undefined
      }
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </button>
  )
}
