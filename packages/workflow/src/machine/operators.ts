import { again, open, reopen, reset } from './again.ts'
import type { MachineEvent } from './events.ts'
import { setOut } from './life.ts'
import {
  bury,
  forget,
  hasEnded,
  isAlive,
  isEntered,
  isGoingBack,
  note,
  over,
  passedPivot,
  push,
  stir,
  touch,
  undone,
} from './outcomes.ts'
import {
  AS_IT_WAS,
  DONE,
  goesOn,
  passedPivotOf,
  refuseRetry,
  refuseRun,
  refuseStep,
  standing,
  type Told,
} from './refusals.ts'
import { begin, enter, owes, undo } from './scope.ts'
import type { Run, Unit } from './state.ts'
import { stop } from './stop.ts'

// What operators do with a run. Of a step see step-operators.ts, of its undo undo-operators.ts.

export function cancel(run: Run, { compensate = true, reason = 'operator' }: CancelEvent): Told {
  const { root } = run
  // Not if an operator had cancelled it: that stands.
  const isHeld = run.paused && root.status === 'stopping' && root.note?.cause?.failed === true
  if (!goesOn(run) && !isHeld) {
    if (compensate || hasEnded(root) || root.note?.cause?.keep === true) return AS_IT_WAS
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
  const wasPaused = run.paused
  unpause(run)
  if (isHeld) {
    // What had failed in the pause is told by its history.
    const { failed: _, ...known } = root.note ?? {}
    root.note = { ...known, cause }
    enter(run, root)
  } else if (root.status === 'pending') {
    note(root, { cause })
    over(run, root, 'cancelled')
  } else {
    stop(run, root, cause)
    // Undos of single units go on.
    if (wasPaused && root.status === 'stopping') enter(run, root)
  }
  return DONE
}
type CancelEvent = Extract<MachineEvent, { readonly type: 'cancel' }>

/** The run has missed its deadline. After a pivot that means nothing. */
export function deadline(run: Run): Told {
  if (!goesOn(run)) return AS_IT_WAS
  if (passedPivot(run.root)) run.deadlineAt = null
  else stop(run, run.root, { failed: true, error: 'deadline' })
  return DONE
}

export function pause(run: Run, { by, idle = [] }: PauseEvent & { readonly idle?: readonly number[] }): Told {
  const { root } = run
  if (hasEnded(root)) return refuseRun(run, 'paused', standing(run))
  if (run.paused) return AS_IT_WAS
  run.paused = true
  if (by === 'parent') note(root, { pausedBy: by })
  touch(run, root)
  for (const no of idle) hold(run, run.units[no]!)
  while (run.out.dispatch.size > 0) hold(run, run.out.dispatch.keyAt(0))
  // Rows imply what begins, and nothing begins in a pause: what has begun unwritten is written now.
  for (const u of run.units) if (u !== undefined && u.row !== u.status) touch(run, u)
  tellElsewhere(run)
  return DONE
}
/** Its ask has called nobody: it leaves when the pause ends. */
function hold(run: Run, u: Unit): void {
  run.out.dispatch.delete(u)
  if (!u.flying) return
  u.flying = false
  u.recorded = false
  touch(run, u)
}

type PauseEvent = { readonly by?: 'parent' }

/** A parent ends only the pause that it has begun. */
export function resume(run: Run, { by }: PauseEvent): Told {
  const { root } = run
  if (hasEnded(root)) return refuseRun(run, 'resumed', standing(run))
  if (!run.paused || (by === 'parent' && root.note?.pausedBy !== 'parent')) return AS_IT_WAS
  unpause(run)
  tellElsewhere(run)
  if (root.status !== 'pending') takeUp(run, root)
  return DONE
}

function unpause(run: Run): void {
  run.paused = false
  if (run.root.note?.pausedBy !== undefined) forget(run.root, 'pausedBy')
  touch(run, run.root)
}

/** Whatever goes on elsewhere is paused and resumed with the run. */
function tellElsewhere(run: Run): void {
  for (const u of run.units) if (u?.phase === 'wait' && isAlive(u)) u.kind.paused?.(run, u)
}

/** Whatever the pause held goes on. */
function takeUp(run: Run, root: Unit): void {
  if (isEntered(root)) enter(run, root)
  else if (root.phase !== null && !root.flying && root.tries.due === null) setOut(run, root)
}

export function setPriority(run: Run, priority: number): Told {
  if (!goesOn(run)) return refuseRun(run, 'given another priority', standing(run))
  if (run.priority === priority) return AS_IT_WAS
  run.priority = priority
  touch(run, run.root)
  return DONE
}

/** The undo of a child that had completed. */
export function undoRun(run: Run): Told {
  const { root } = run
  if (root.status !== 'completed') {
    return goesOn(run) ? refuseRun(run, 'undone', standing(run), 'Cancel it.') : AS_IT_WAS
  }
  if (passedPivot(root)) {
    return refuseRun(run, 'undone', standing(run), 'Its pivot has completed, so it keeps its effects.')
  }
  note(root, { cause: { cancelled: 'parent' } })
  run.deadlineAt = null
  touch(run, root)
  if (owes(root)) undo(run, root)
  else undone(run, root)
  return DONE
}

/** Goes on after a failure for good: what is parked after a pivot, or the whole of a run that has ended. */
export function retry(run: Run, { by }: PauseEvent): Told {
  const parked = goesOn(run) ? run.units.filter((u) => u?.status === 'parked') : []
  // A scope has a lower number than what it is parked with.
  for (const u of parked) if (u!.status === 'parked') retryParked(run, u!)
  if (parked.length > 0) return DONE
  return refuseRetry(by === 'parent' ? { ...run, parent: null } : run, 'retried') ?? retryEnded(run)
}

/** `wanted`: a unit that runs again although its failure would be kept. */
export function retryEnded(run: Run, wanted: Unit | null = null): Told {
  unpause(run)
  // It would stop the run again at once.
  if (run.deadlineAt !== null && run.deadlineAt <= run.now) run.deadlineAt = null
  again(run, run.root, wanted)
  reopen(run, run.root)
  return DONE
}

/** Of a scope that is parked at its end it is what failed in it. In a pause it begins once that is over. */
export function retryParked(run: Run, u: Unit): void {
  unpark(run, u)
  if (u.scope === null) {
    if (isEntered(u)) enter(run, u)
    else setOut(run, u)
    return
  }
  u.scope.alive -= 1
  u.isCounted = false
  begin(run, u)
}

/** It runs again once its scope takes it up. */
export function unpark(run: Run, u: Unit): void {
  run.parked -= 1
  if (!isEntered(u)) return reset(run, u, false)
  if (u.alive === 0) again(run, u)
  open(run, u)
}

/** Ends a run whose code is gone, and undoes nothing. Undos that had begun count as skipped. */
export function drop(run: Run): Told {
  const { root } = run
  if (hasEnded(root)) return AS_IT_WAS
  const held = run.units.find((u) => u?.flying === true)
  if (held !== undefined) {
    const remedy = 'If its worker is gone, wait until its lease has ended.'
    return refuseStep(run, held, 'dropped with its run', 'it is running', remedy)
  }
  note(root, { cause: { cancelled: 'operator', ...root.note?.cause, keep: true } })
  unpause(run)
  run.out.isDropped = true
  // What a scope has opened ends before it.
  for (const u of run.units.toReversed()) {
    if (u === undefined) continue
    u.held = false
    if (u === root || isAlive(u)) abandon(run, u)
  }
  push(run, root)
  return DONE
}

function abandon(run: Run, u: Unit): void {
  if (u.status === 'parked' || u.status === 'stuck') run.parked -= 1
  const isUndo = isGoingBack(u)
  if (isUndo) note(u, { skippedUndo: true })
  else if (u.status === 'waiting' && u.phase === 'wait') u.kind.stop?.(run, u)
  const isFailed = u.status === 'parked' || u.note?.failed === true || u.note?.cause?.failed === true
  bury(run, u)
  stir(u)
  u.status = isUndo ? 'undone' : isFailed ? 'failed' : 'cancelled'
  u.tries.due = null
  u.phase = null
  u.aside = false
  touch(run, u)
}
