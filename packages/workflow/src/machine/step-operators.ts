import { sentence } from '../words.ts'
import { drop, isKeptFailure, remembered, standingAfter } from './again.ts'
import { ask, fly, setOut } from './life.ts'
import { retryEnded, retryParked } from './operators.ts'
import { bury, fail, hasEnded, isUndone, land, note, push, stick, stir, touch } from './outcomes.ts'
import {
  DONE,
  goesOn,
  refuseGiveUp,
  refuseRetry,
  refuseRetryStep,
  refuseSkip,
  refuseSkipOfEnded,
  refuseStanding,
  refuseStep,
  type Told,
  unexplained,
} from './refusals.ts'
import { isReady } from './shown.ts'
import type { Run, Unit } from './state.ts'

// What operators do with a step on its way forward.

/** A unit whose ask has called nobody is ready: nothing of it can have happened. Unless the action ends it, it is asked again, under the same serial. */
export function ofIdle(run: Run, u: Unit, { idle }: { readonly idle?: boolean }, act: () => Told): Told {
  const { serial, flying } = u
  if (idle !== true || !flying) return act()
  u.flying = false
  run.out.dispatch.delete(u)
  const told = act()
  if (u.serial === serial && !hasEnded(u)) fly(run, u, { suspect: u.tries.losses > 0 && !u.recorded })
  return told
}

/** Its next try is due now. In a run that has ended it runs again with the others, also if the run had continued past its failure. */
export function retryStep(run: Run, u: Unit): Told {
  if (!goesOn(run)) return retryStepOfEnded(run, u)
  if (u.status === 'parked') {
    retryParked(run, u)
    return DONE
  }
  if (u.status === 'waiting' && u.phase === 'wait' && u.kind.hurry?.(run, u) === true) return DONE
  const isWaiting = u.status === 'waiting' && u.phase !== 'wait'
  if (!isWaiting && !isReady(u)) return refuseRetryStep(run, u)
  // Its losses stay: another try does not tell what a lost one did.
  u.forward.failures = 0
  u.forward.series = null
  touch(run, u)
  if (!isWaiting) return DONE
  if (u.phase !== null) ask(run, u, u.phase)
  else if (run.paused) u.forward.due = run.now
  else setOut(run, u)
  return DONE
}

function retryStepOfEnded(run: Run, u: Unit): Told {
  const refused = refuseRetry(run, 'retried')
  if (refused !== null) return refused
  if (u.status === 'completed' || u.status === 'skipped') {
    const because = u.status === 'skipped' ? 'it has been skipped' : 'it has completed'
    return refuseStep(run, u, 'retried', because)
  }
  if (!isKeptFailure(u)) return retryEnded(run)
  const standing = standingAfter(u)
  return standing === undefined ? retryEnded(run, u) : refuseStanding(run, standing)
}

/** An operator's word replaces its handler's. In a run that has ended it must be what failed. */
export function skipStep(run: Run, u: Unit, output: unknown): Told {
  const refused = goesOn(run) ? refuseSkip(run, u) : refuseSkipOfEnded(run, u)
  if (refused !== null) return refused
  const isEnded = hasEnded(u)
  if (u.status === 'parked') run.parked -= 1
  standIn(run, u, output)
  if (isEnded) return retryEnded(run)
  push(run, u)
  return DONE
}

function standIn(run: Run, u: Unit, output: unknown): void {
  // What it had taken is not its output any more.
  note(u, { standIn: true })
  u.note = { ...remembered(u), standIn: true, case: output }
  touch(run, u, { output })
  u.scope!.kind.keeps?.(run, u.scope!, u, { output })
  if (isUndone(u)) {
    u.succeeded = false
    // Undone as one, they do not say themselves that nothing of them is left.
    if (u.units !== null && u.spec.compensate !== undefined) drop(run, u, () => true)
  }
  u.of = null
  u.undo = null
  u.forward.due = null
  u.phase = null
  bury(run, u)
  stir(u)
  u.held = false
  u.status = 'skipped'
}

/** Its handler will not end: nobody knows what it did. */
export function giveUp(run: Run, u: Unit, reason: string): Told {
  if (reason === '') return unexplained()
  if (!u.flying || (u.status !== 'stopping' && u.status !== 'undoing')) return refuseGiveUp(run, u)
  land(u)
  const error = outcomeUnknown(reason)
  if (u.status === 'undoing') stick(run, u, error)
  else {
    if (u.phase === 'run') u.touched = true
    fail(run, u, error)
  }
  return DONE
}

function outcomeUnknown(reason: string): object {
  const said = `An operator gave up on the handler, which had not ended: ${sentence(reason)}`
  return {
    name: 'BelayError',
    code: 'outcome_unknown',
    message: `${said} Whether it took effect is unknown.`,
  }
}
