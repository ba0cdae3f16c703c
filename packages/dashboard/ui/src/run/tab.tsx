import type { OfferedHere, RunPage } from '../../../src/api.ts'
import { CAPABILITY_OF } from '../../../src/capabilities.ts'
import { OfferedButton } from '../may-button.tsx'
import { VERBS } from './verbs.ts'

/** What a tab needs. */
export interface TabProps {
  readonly page: RunPage
  /** Opens the dialog of an action. */
  readonly act: (action: OfferedHere) => void
}

/** A button that opens the dialog of an action. */
export function ActButton({
  action,
  act,
  isMain = false,
}: {
  readonly action: OfferedHere
  readonly act: (action: OfferedHere) => void
  readonly isMain?: boolean
}) {
  return (
    <OfferedButton
      lacks={action.denied && CAPABILITY_OF[action.verb]}
      class={isMain ? 'button main' : 'button'}
      onClick={() => act(action)}
    >
      {VERBS[action.verb].button}…
    </OfferedButton>
  )
}
