import { hasEnded, isEntered, isUndone, outcomeOf } from '../../../workflow/src/machine/outcomes.ts'
import { owes } from '../../../workflow/src/machine/scope.ts'
import { shownStatus } from '../../../workflow/src/machine/shown.ts'
import type { Run, Unit } from '../../../workflow/src/machine/state.ts'
import type { Ask, AskPhase, View } from './view.ts'

export function viewOfMachine(run: Run): View {
  const units = run.units.filter((u) => u !== undefined && u.scope !== null) as readonly Unit[]
  const asks = units.filter(({ flying }) => flying).map((u) => [nameOf(u), askOf(u)] as const)
  return {
    run: statusOf(run),
    units: Object.fromEntries(units.map((u) => [nameOf(u), wordOf(u)])),
    asks: Object.fromEntries(asks.toSorted()),
    rounds: Object.fromEntries(units.map((u) => [nameOf(u), u.round])),
  }
}

export function nameOf({ scope, key }: Unit): string {
  return scope === null || scope.scope === null ? String(key) : `${scope.key}[${key}]`
}

const askOf = ({ phase, tries, round }: Unit): Ask => ({
  phase: phase as AskPhase,
  attempt: tries.attempt,
  round,
})

function statusOf({ root, paused, parked }: Run): string {
  switch (root.status) {
    case 'undone':
      return root.of === 'cancelled' ? 'cancelled' : 'compensated'
    case 'completed':
    case 'failed':
    case 'cancelled':
      return root.status
    default:
      if (paused) return 'paused'
      if (root.status === 'stopping') return 'compensating'
      if (root.status === 'undoing') return parked > 0 ? 'compensation_failed' : 'compensating'
      return parked > 0 ? 'parked' : 'running'
  }
}

/** The undo of a scope above will come to it. */
function isUndoneLater(u: Unit): boolean {
  if (!hasEnded(u) || isUndone(u) || !owes(u)) return false
  for (let s = u.scope; s !== null; s = s.scope) {
    if (s.spec.compensate !== undefined || isUndone(s)) return false
    if (s.status === 'undoing') return true
  }
  return false
}

/** As a reader shows it: some words depend on the scope. */
function wordOf(u: Unit): string {
  if (u.units !== null && u.spec.compensate === undefined && (u.of !== null || hasEnded(u)))
    return outcomeOf(u)
  if (isUndoneLater(u)) return 'compensating'
  // What is left of it only drains.
  if (isEntered(u) && u.status === 'stopping') return 'cancelled'
  // Between two tries it is ready; a poll waits between its checks.
  if (u.status === 'waiting' && (u.phase === null || (u.phase !== 'wait' && u.forward.failures > 0)))
    return 'ready'
  if (u.status === 'waiting' && u.note?.['signal'] !== undefined) return 'ready'
  return shownStatus(u)
}
