import { hasEnded, isEntered, push } from './outcomes.ts'
import { cleared, enter, isHeldBack, look, owes, undo, undoesItself } from './scope.ts'
import type { Run, Unit } from './state.ts'
import { stop } from './stop.ts'

/** Digests what has happened, one by one: no recursion, however long the chain. */
export function digest(run: Run): void {
  const { agenda } = run
  for (let i = 0; i < agenda.length; i++) {
    const entry = agenda[i]!
    const { unit, does, cause } = entry
    if (does === 'end') {
      if (unit.ending === entry) digestEnd(run, unit)
    } else if (does === 'told') {
      if (unit.telling === entry) digestTold(run, unit)
    } else if (does === 'stop') stop(run, unit, cause)
    // It may have been stopped meanwhile.
    else if (unit.status === 'open') enter(run, unit)
    else if (unit.status === 'stopping' && isEntered(unit)) look(run, unit)
  }
  agenda.length = 0
}

function digestEnd(run: Run, u: Unit): void {
  u.ending = null
  const s = u.scope
  if (undoesItself(u)) {
    // At the end of a pause it is taken up again.
    if (run.paused) u.held = true
    else undo(run, u)
    return
  }
  if (s === null) {
    run.out.ended = u.status
    return
  }
  // It was undone for itself, and the undo of its scope, which has ended, has not come to it yet.
  if (hasEnded(s)) return lookAbove(run, s)
  if (u.aside) u.aside = false
  else s.alive -= 1
  if (s.status === 'open' && u.note?.told === true) s.kind.rests?.(run, s)
  else if (s.status === 'open') s.kind.ended!(run, s, u)
  else if (s.status === 'undoing') cleared(run, s, u)
  look(run, s)
}

/** A scope that was stopped may wait for just that undo; one whose undo a pause holds back may owe nothing any more. */
function lookAbove(run: Run, ended: Unit): void {
  for (let s: Unit | null = ended; s !== null; s = s.scope) {
    if (s.status === 'stopping') look(run, s)
    else if (isHeldBack(s) && !owes(s)) {
      s.held = false
      push(run, s)
    }
  }
}

/** Its scope goes on, while units of it are still under way. */
function digestTold(run: Run, u: Unit): void {
  u.telling = null
  if (u.scope?.status === 'open') u.scope.kind.ended!(run, u.scope, u)
}
