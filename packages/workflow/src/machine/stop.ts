import { abort } from './life.ts'
import { isAlive, isEntered, isGoingBack, land, note, over, release, touch } from './outcomes.ts'
import type { Cause } from './records.ts'
import { isHeldAsk, isTakenUp, look } from './scope.ts'
import type { Run, Unit } from './state.ts'

/** Stops a unit, and whatever is under way in it: for a cause if it is stopped for itself, without one if its scope is. */
export function stop(run: Run, u: Unit, cause?: Cause): void {
  if (u.held && (cause === undefined || u.status === 'pending')) release(u)
  if (!isAlive(u) || u.status === 'stopping') return
  if (isGoingBack(u)) {
    u.aside = cause === undefined && isTakenUp(u)
    if (u.aside) u.scope!.alive -= 1
    return
  }
  if (cause !== undefined) note(u, { cause })
  touch(run, u)
  if (u.status === 'parked') run.parked -= 1
  if (isEntered(u)) return stopScope(run, u)
  if (u.status === 'parked') return over(run, u, 'failed')
  // It never left.
  if (isHeldAsk(u)) u.tries.attempt -= 1
  const isElsewhere = u.status === 'waiting' && u.phase === 'wait' && u.kind.stop !== undefined
  u.status = 'stopping'
  if (isElsewhere) return u.kind.stop!(run, u)
  if (abort(run, u)) return
  land(u)
  over(run, u, 'cancelled')
}

function stopScope(run: Run, s: Unit): void {
  s.status = 'stopping'
  s.forward.due = null
  abort(run, s)
  // A question of its own is not waited for: its units are.
  land(s)
  s.phase = null
  for (const u of s.units!) stop(run, u)
  look(run, s)
}
