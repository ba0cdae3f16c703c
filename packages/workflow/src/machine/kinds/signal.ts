import { waitFor } from '../life.ts'
import { complete, fail, goesForward, note, touch } from '../outcomes.ts'
import type { Kind, MailIn, Run, Unit } from '../state.ts'

const mailOf = (u: Unit) => u.note?.['mail'] as MailIn | undefined

/** It waits for a signal or a decision. Mail that comes early, or in a pause, stays in its row. */
export const signal: Kind = {
  name: 'signal',
  asks: 'open',
  begin(run, u, answer) {
    const kept = mailOf(u)
    if (kept === undefined) waitFor(run, u, answer?.due ?? null)
    else take(run, u, kept)
  },
  mail(run, u, mail) {
    const isWaiting = u.status === 'waiting' && u.phase === 'wait'
    if (isWaiting && !run.paused) {
      take(run, u, mail)
      return true
    }
    const isEarly = u.status === 'pending' || u.status === 'running' || u.status === 'waiting'
    if (!isEarly || mailOf(u) !== undefined || !goesForward(u)) return false
    note(u, { mail })
    touch(run, u)
    return true
  },
  resumes(run, u) {
    const kept = mailOf(u)
    if (kept !== undefined && u.status === 'waiting') take(run, u, kept)
  },
  due: (run, u) => fail(run, u, 'timeout'),
  // A retry takes what came again, unless the step failed on it.
  holds: ['mail', 'asked'],
}

function take(run: Run, u: Unit, mail: MailIn): void {
  if (mail.reject === true) {
    // The next time it asks anew, and its sender’s key is free again.
    const {
      mail: _,
      asked = 0,
      ...others
    } = (u.note ?? {}) as { readonly mail?: MailIn; readonly asked?: number }
    u.note = { ...others, asked: asked + 1 }
    fail(run, u, 'rejected')
  } else {
    note(u, { mail })
    complete(run, u, mail.body)
  }
}
