import { again, reopen, reset } from './again.ts'
import type { MachineEvent } from './events.ts'
import { ask, setOut } from './life.ts'
import {
  fail,
  hasEnded,
  isAlive,
  isEntered,
  isGoingBack,
  land,
  note,
  over,
  passedPivot,
  stick,
  touch,
  undone,
} from './outcomes.ts'
import { noTries } from './records.ts'
import {
  AS_IT_WAS,
  DONE,
  goesOn,
  passedPivotOf,
  refuseRetry,
  refuseRun,
  refuseSkip,
  refuseStep,
  refuseUndo,
  remedyOfRetry,
  remedyOfUndo,
  shownStatus,
  standing,
  type Told,
} from './refusals.ts'
import { begin, enter, owes, undo } from './scope.ts'
import type { Run, Unit } from './state.ts'
import { stop } from './stop.ts'

// ------------------------------------------------------------------------------------------------------------------------ the run

export function cancel(run: Run, { compensate = true, reason = 'operator' }: CancelEvent): Told {
  const { root } = run
  const isHeld = run.paused && root.status === 'stopping'
  if (!goesOn(run) && !isHeld) {
    if (compensate || hasEnded(root)) return AS_IT_WAS
    const remedy = 'A cancellation stops no undo. A pause does; a single step can be marked as undone.'
    return refuseRun(run, 'cancelled without its undo', standing(run), remedy)
  }
  if (compensate && !isHeld && passedPivot(root)) {
    const because = `its pivot "${passedPivotOf(root)}" has completed, so it cannot be undone any more`
    const remedy =
      'Let it go on, or cancel it without its undo (`compensate: false`), which leaves every effect as it is.'
    return refuseRun(run, 'cancelled', because, remedy)
  }
  const keep = compensate ? {} : { keep: true }
  const cause = { cancelled: reason, ...keep }
  run.paused = false
  touch(run, root)
  if (isHeld) {
    // What had failed in the pause stays the cause.
    note(root, { cause: { ...root.note?.cause, ...keep } })
    enter(run, root)
  } else if (root.status === 'pending') {
    note(root, { cause })
    over(run, root, 'cancelled')
  } else stop(run, root, cause)
  return DONE
}
type CancelEvent = Extract<MachineEvent, { readonly type: 'cancel' }>

/** The run has missed its deadline. After a pivot that means nothing. */
export function deadline(run: Run): Told {
  if (!goesOn(run) || passedPivot(run.root)) return AS_IT_WAS
  stop(run, run.root, { failed: true, error: 'deadline' })
  return DONE
}

export function pause(run: Run): Told {
  if (hasEnded(run.root)) return refuseRun(run, 'paused', standing(run))
  if (run.paused) return AS_IT_WAS
  run.paused = true
  // What is under way; all else does not begin.
  for (const u of run.units) if (u !== undefined && (u.flying || u.row !== u.status)) touch(run, u)
  return DONE
}

export function resume(run: Run): Told {
  if (hasEnded(run.root)) return refuseRun(run, 'resumed', standing(run))
  if (!run.paused) return AS_IT_WAS
  run.paused = false
  if (run.root.status !== 'pending') takeUp(run, run.root)
  return DONE
}

/** Whatever the pause held goes on. */
function takeUp(run: Run, root: Unit): void {
  if (isEntered(root)) enter(run, root)
  else if (root.phase !== null && !root.flying && root.tries.due === null) setOut(run, root)
}

/** The undo of a child that had completed. */
export function undoRun(run: Run): Told {
  const { root } = run
  if (root.status !== 'completed') {
    return isAlive(root) ? refuseRun(run, 'undone', standing(run), 'Cancel it.') : AS_IT_WAS
  }
  if (passedPivot(root)) {
    return refuseRun(run, 'undone', standing(run), 'Its pivot has completed, so it keeps its effects.')
  }
  note(root, { cause: { cancelled: 'parent' } })
  touch(run, root)
  if (owes(root)) undo(run, root)
  else undone(run, root)
  return DONE
}

export function retry(run: Run): Told {
  const { root } = run
  if (root.status === 'completed') return refuseRun(run, 'retried', standing(run), 'Start another run.')
  if (!hasEnded(root)) return refuseRun(run, 'retried', standing(run), remedyOfRetry(run))
  if (run.parent !== null) {
    const remedy = `Retry run ${run.parent} once it has ended or is parked: its step runs again with a child. If it has completed, start another run instead.`
    return refuseRun(run, 'retried alone', 'it shares the fate of its parent', remedy)
  }
  again(run, root)
  reopen(run, root)
  return DONE
}

// ------------------------------------------------------------------------------------------------------------------------- a unit

export function retryStep(run: Run, u: Unit): Told {
  if (u.status === 'waiting' && u.phase !== 'wait') {
    if (run.paused) return refuseStep(run, u, 'retried', 'its run is paused', 'Resume it.')
    u.forward.failures = 0
    u.forward.series = null
    if (u.phase === null) setOut(run, u)
    else ask(run, u, u.phase)
    return DONE
  }
  if (u.status !== 'parked') return refuseRetry(run, u)
  run.parked -= 1
  if (isEntered(u)) {
    if (u.alive === 0) again(run, u)
    reopen(run, u)
    return DONE
  }
  reset(run, u, false)
  if (u.scope === null) {
    setOut(run, u)
    return DONE
  }
  u.scope.alive -= 1
  begin(run, u)
  return DONE
}

export function skipStep(run: Run, u: Unit, output: unknown): Told {
  if (u.scope === null || u.scope.status !== 'open') {
    return refuseRun(run, 'continued by skipping a step', standing(run), remedyOfUndo(run))
  }
  if (u.status !== 'waiting' && u.status !== 'parked') return refuseSkip(run, u)
  if (u.alive > 0) return refuseSkip(run, u)
  if (u.status === 'parked') run.parked -= 1
  note(u, { standIn: true, case: output })
  touch(run, u, { output })
  u.scope.kind.keeps?.(run, u.scope, u, { output })
  u.phase = null
  over(run, u, 'skipped')
  return DONE
}

/** Its handler will not end: nobody knows what it did. */
export function giveUp(run: Run, u: Unit): Told {
  if (!u.flying || (u.status !== 'stopping' && u.status !== 'undoing')) {
    if (!u.flying) {
      return refuseStep(run, u, 'given up', `it is ${shownStatus(u)}, and no handler of it runs`)
    }
    const remedy =
      'Cancel the run first: that signals its handlers; this is for a handler that ignores its signal.'
    return refuseStep(run, u, 'given up', 'its run goes forward', remedy)
  }
  land(u)
  if (u.status === 'undoing') stick(run, u, 'outcome_unknown')
  else {
    if (u.phase === 'run') u.touched = true
    fail(run, u, 'outcome_unknown')
  }
  return DONE
}

const waitsToUndo = (u: Unit): boolean =>
  u.status === 'stuck' || (u.status === 'undoing' && u.tries.due !== null)

export function retryUndo(run: Run, u: Unit): Told {
  if (!waitsToUndo(u)) return refuseUndo(run, u, 'retried in its undo')
  if (u.status === 'stuck') run.parked -= 1
  const { attempt } = u.undo ?? noTries()
  u.status = 'undoing'
  Object.assign(u.undo!, { ...noTries(), attempt })
  touch(run, u)
  ask(run, u, 'undo')
  return DONE
}

export function skipUndo(run: Run, u: Unit): Told {
  if (!waitsToUndo(u) || !isGoingBack(u)) return refuseUndo(run, u, 'skipped in its undo')
  if (u.status === 'stuck') run.parked -= 1
  u.tries.due = null
  note(u, { skippedUndo: true })
  undone(run, u)
  return DONE
}
