import { goesForward } from './outcomes.ts'
import type { Status } from './records.ts'
import type { Run, Unit } from './state.ts'

// The words by which people know a run and its units.

/** `charge`, the item `resize[2]`, a step of a graph within `pack[2].label`. */
export function nameOf({ scope, key, label }: Unit): string {
  if (scope === null || scope.scope === null) return label ?? String(key)
  return typeof key === 'number' ? `${nameOf(scope)}[${label ?? key}]` : `${nameOf(scope)}.${key}`
}

export const quoted = (units: readonly Unit[]): string => units.map((u) => `"${nameOf(u)}"`).join(', ')

const SHOWN: Readonly<Partial<Record<Status, string>>> = {
  open: 'running',
  stopping: 'running',
  parked: 'failed',
  undoing: 'compensating',
  stuck: 'compensation_failed',
  undone: 'compensated',
}

/** The status of a unit. */
export function shownStatus(u: Unit): string {
  if (u.status === 'pending' && !goesForward(u)) return 'cancelled'
  if (isReady(u)) return 'ready'
  return SHOWN[u.status] ?? u.status
}

/** It waits for nothing but its next try, or the end of a pause. */
export function isReady(u: Unit): boolean {
  const { status, phase, flying, forward } = u
  if (u.held && status === 'pending') return true
  if (status === 'running') return !flying
  if (status !== 'waiting') return false
  if (phase === 'wait') return u.kind.hasCome?.(u) === true
  return phase === null || forward.failures > 0 || u.note?.line !== undefined
}

/** The status of a run. */
export function shownRunStatus({ root, paused, parked }: Run): string {
  switch (root.status) {
    case 'completed':
    case 'failed':
    case 'cancelled':
      return root.status
    case 'undone':
      return root.of === 'failed' ? 'compensated' : 'cancelled'
    default:
  }
  if (paused) return 'paused'
  if (root.status === 'undoing' && parked > 0) return 'compensation_failed'
  return root.status === 'undoing' || root.status === 'stopping' ? 'compensating' : 'running'
}
