import type { ComponentChildren } from 'preact'
import type { Session } from '../../src/api.ts'
import type { Capability } from '../../src/capability.ts'
import { downSince } from './answer.tsx'
import { useLive } from './live.ts'
import { useCell } from './stored.ts'

interface ButtonProps {
  readonly onClick: () => void
  /** The label, where several buttons with the same words stand together. */
  readonly label?: string | undefined
  readonly class?: string
  readonly children: ComponentChildren
}

interface OfferedProps extends ButtonProps {
  /** The capability that the viewer would need. */
  readonly lacks: Capability | false
  readonly isOff?: boolean
}

/** A button that changes something. What a viewer may not do is shown and says so; while the store is silent it is off. */
export function OfferedButton({
  lacks,
  isOff = false,
  onClick,
  label,
  class: looks = 'button',
  children,
}: OfferedProps) {
  const isStale = useCell(downSince) !== undefined
  return (
    <button
      type="button"
      class={looks}
      disabled={isStale || isOff || lacks !== false}
      title={
        lacks === false
          ? undefined
          : `You may not do this here: you lack ${lacks}. Ask whoever runs this dashboard for it.`
      }
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </button>
  )
}

/** The same for what every viewer with a capability may do. */
export function MayButton({ capability, ...props }: ButtonProps & { readonly capability: Capability }) {
  const { data } = useLive<Session>('session')
  const lacks = data?.can.includes(capability) === false && capability
  return <OfferedButton {...props} lacks={lacks} isOff={data === undefined} />
}
