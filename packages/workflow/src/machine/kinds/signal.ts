import { waitFor } from '../life.ts'
import { complete, fail, note, touch } from '../outcomes.ts'
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
    if (!isEarly || mailOf(u) !== undefined) return false
    note(u, { mail })
    touch(run, u)
    return true
  },
  resumes(run, u) {
    const kept = mailOf(u)
    if (kept !== undefined && u.status === 'waiting') take(run, u, kept)
  },
  due: (run, u) => fail(run, u, 'timeout'),
}

function take(run: Run, u: Unit, { body, reject }: MailIn): void {
  if (reject === true) fail(run, u, 'rejected')
  else complete(run, u, body)
}
