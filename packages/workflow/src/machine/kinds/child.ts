import { waitFor } from '../life.ts'
import { complete, fail, over, stick, touch, undone } from '../outcomes.ts'
import type { Kind, MailIn, Run, Spec, Unit } from '../state.ts'

export interface ChildSpec extends Spec {
  /** It is not waited for, and belongs to nobody. */
  readonly detached?: true
  /** Its effects stay when its parent is undone. */
  readonly kept?: true
}

const specOf = (u: Unit) => u.spec as ChildSpec

/** The key under which the child of a unit is started, in each of its rounds another one. */
export const childKey = (run: Run, u: Unit): string => `${run.id}/${u.no}:${u.round}`

/** A run of another definition: mail goes out and comes in. */
export const child: Kind = {
  name: 'child',
  asks: 'open',
  owes: (spec) => (spec as ChildSpec).kept !== true && (spec as ChildSpec).detached !== true,
  renews: true,
  begin(run, u, answer) {
    const id = childKey(run, u)
    run.out.start.push({ id, unit: u.no, child: answer?.child })
    u.touched = true
    if (specOf(u).detached === true) complete(run, u, { runId: id })
    else waitFor(run, u, null)
  },
  stop(run, u) {
    run.out.mail.push({ to: childKey(run, u), type: 'cancel' })
  },
  undo(run, u) {
    u.phase = 'wait'
    touch(run, u)
    run.out.mail.push({ to: childKey(run, u), type: 'undo' })
  },
  mail(run, u, mail) {
    if (mail.child !== childKey(run, u) || u.phase !== 'wait') return false
    if (u.status === 'undoing') return wasUndone(run, u, mail)
    if (mail.ended === undefined || (u.status !== 'waiting' && u.status !== 'stopping')) return false
    if (mail.ended === 'completed') complete(run, u, mail.output)
    else if (u.status === 'stopping') over(run, u, 'cancelled')
    else fail(run, u, 'child_failed')
    return true
  },
}

function wasUndone(run: Run, u: Unit, { undone: isUndone, refused }: MailIn): boolean {
  if (refused === true) stick(run, u, 'child_passed_its_pivot')
  else if (isUndone === true) undone(run, u)
  return refused === true || isUndone === true
}
