import { DELIVERED, ignored, type MailIn, type Receipt } from '../answers.ts'
import { ask, waitFor } from '../life.ts'
import { complete, fail, goesForward, hasEnded, isGoingBack, note, outcomeOf, touch } from '../outcomes.ts'
import type { Kind, Run, Unit } from '../state.ts'

/** The signal that a unit has. Its payload is the unit’s output. */
interface Signal {
  readonly key?: string
  readonly hash?: string
  readonly rejects?: true
}

const signalOf = (u: Unit) => u.note?.['signal'] as Signal | undefined

/** It waits for a signal or a decision. One that comes early, or in a pause, is kept. */
export const signal: Kind = {
  name: 'signal',
  asks: 'open',
  begin(run, u, answer) {
    waitFor(run, u, answer?.due ?? null)
    take(run, u)
  },
  mail(run, u, mail) {
    const refused = refusal(u, mail)
    if (refused !== undefined) return refused
    const { key, hash, reject } = mail
    const kept: Signal = {
      ...(key === undefined ? {} : { key }),
      ...(hash === undefined ? {} : { hash }),
      ...(reject === true ? { rejects: true } : {}),
    }
    note(u, { signal: kept })
    touch(run, u, { output: mail.body })
    const isWaiting = isInWait(u)
    take(run, u)
    return isWaiting ? DELIVERED : { result: 'kept' }
  },
  resumes: take,
  hasCome: (u) => signalOf(u) !== undefined,
  due(run, u) {
    if (signalOf(u) === undefined) ask(run, u, 'timeout')
    else take(run, u)
  },
  answered: (run, u, answer) => complete(run, u, answer),
  remembers(u) {
    const { asked = 0 } = (u.note ?? {}) as { readonly asked?: number }
    const kept = signalOf(u)
    if (isTakenAgain(u)) return { ...(asked === 0 ? {} : { asked }), signal: kept }
    const times = kept === undefined ? asked : asked + 1
    return times === 0 ? null : { asked: times }
  },
  keepsOutput: isTakenAgain,
}

/** A retry takes the signal that came again, unless the step failed on it: then it asks anew, and its senders’ keys are free again. */
function isTakenAgain(u: Unit): boolean {
  const hasFailed = outcomeOf(u) === 'failed' || u.status === 'parked'
  return signalOf(u) !== undefined && !hasFailed && u.note?.standIn !== true
}

const isInWait = (u: Unit): boolean => u.status === 'waiting' && u.phase === 'wait'

/** Why it takes this signal not; undefined if it does. */
function refusal(u: Unit, { key }: MailIn): Receipt | undefined {
  const present = signalOf(u)
  if (present !== undefined && key !== undefined && present.key === key) {
    return { result: 'duplicate', hash: present.hash }
  }
  if (present !== undefined) return ignored('signalled')
  if (!goesForward(u)) return ignored('run_over')
  if (u.phase === 'timeout' && !hasEnded(u)) return ignored('timed_out')
  return hasEnded(u) || isGoingBack(u) || u.status === 'parked' || u.status === 'stopping'
    ? ignored('step_over')
    : undefined
}

/** Takes the signal that it has, if it waits for one. */
function take(run: Run, u: Unit): void {
  const kept = signalOf(u)
  if (kept === undefined || run.paused || !isInWait(u)) return
  if (kept.rejects === true) fail(run, u, 'rejected')
  else complete(run, u)
}
