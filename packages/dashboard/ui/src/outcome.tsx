import type { ActionResult } from '../../src/api.ts'
import { withTimes } from './shell/times.ts'

interface OutcomeProps {
  readonly of: ActionResult | undefined
  /** What stands there before. */
  readonly until?: string
}

/** What would happen, or has happened, or why it is refused. */
export function Outcome({ of, until = 'Asking what would happen…' }: OutcomeProps) {
  return (
    <p class={of?.refused === undefined ? 'outcome' : 'outcome refused'} role="status">
      {of ? withTimes(of.sentence) : until}
    </p>
  )
}

/** Why nothing came of it, if so. */
export function Problem({ of }: { readonly of: string | undefined }) {
  if (of === undefined) return null
  return (
    <p class="outcome refused" role="alert">
      {of}
    </p>
  )
}
