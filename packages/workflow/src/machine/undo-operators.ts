import { ask } from './life.ts'
import { goBack, note, touch, undone } from './outcomes.ts'
import { noTries } from './records.ts'
import { DONE, refuseUndo, type Told } from './refusals.ts'
import { isHeldBack } from './scope.ts'
import type { Run, Unit } from './state.ts'

// What operators do with the undo of a step.

const waitsToUndo = (u: Unit): boolean =>
  u.status === 'stuck' ||
  isHeldBack(u) ||
  (u.status === 'undoing' && !u.flying && (u.tries.due !== null || isHeld(u)))

/** A pause keeps it from being asked. */
const isHeld = ({ status, phase, tries }: Unit): boolean =>
  status === 'undoing' && phase === 'undo' && tries.due === null

export function retryUndo(run: Run, u: Unit): Told {
  if (!waitsToUndo(u)) return refuseUndo(run, u, 'retried in its undo')
  if (isHeldBack(u)) return DONE
  if (u.status === 'stuck') run.parked -= 1
  const attempt = u.undo!.attempt - (isHeld(u) ? 1 : 0)
  u.status = 'undoing'
  Object.assign(u.undo!, { ...noTries(), attempt })
  touch(run, u)
  ask(run, u, 'undo')
  return DONE
}

export function skipUndo(run: Run, u: Unit): Told {
  if (!waitsToUndo(u)) return refuseUndo(run, u, 'skipped in its undo')
  if (isHeldBack(u)) {
    u.held = false
    goBack(run, u)
  }
  if (u.status === 'stuck') run.parked -= 1
  u.tries.due = null
  note(u, { skippedUndo: true })
  undone(run, u)
  return DONE
}
