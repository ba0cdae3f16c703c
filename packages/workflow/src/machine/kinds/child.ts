import { DELIVERED, ignored, type MailIn } from '../answers.ts'
import type { MailOut } from '../changes.ts'
import { ask, waitFor } from '../life.ts'
import {
  complete,
  fail,
  isAbandoned,
  isUndone,
  land,
  note,
  outcomeOf,
  over,
  stick,
  touch,
  undone,
  unharmed,
} from '../outcomes.ts'
import type { Kind, Run, Spec, Unit } from '../state.ts'

export interface ChildSpec extends Spec {
  /** It is not waited for, and belongs to nobody. */
  readonly detached?: true
}

/** What the row of a step with a child knows of it. */
interface Known {
  /** The round in which it was started. */
  readonly started?: number
  /** The id of the child. */
  readonly id?: string
  readonly ended?: NonNullable<MailIn['ended']>
  /** Its effects are to stay; and so they have. */
  readonly keep?: boolean
  readonly kept?: true
  /** Its undo was told to it. */
  readonly isTold?: boolean
}

const knownOf = (u: Unit) => (u.note ?? {}) as Known
const isDetached = (u: Unit): boolean => (u.spec as ChildSpec).detached === true

const isStarted = (u: Unit): boolean => knownOf(u).started === u.round

/** A name for the child of a unit that has no id, in each of its rounds another one. */
const childKey = (run: Run, u: Unit): string => `${run.id}/${u.no}:${u.round}`

/** The id of the child that a unit has started in its round, or would start if its asker names none. */
export const childId = (run: Run, u: Unit): string =>
  (isStarted(u) ? knownOf(u).id : undefined) ?? childKey(run, u)

/** A run of another definition: mail goes out and comes in. */
export const child: Kind = {
  name: 'child',
  asks: 'open',
  begin(run, u, answer) {
    // Nothing is started in a pause: its input is asked for again.
    if (run.paused) {
      u.forward.attempt -= 1
      return ask(run, u, 'open')
    }
    const child = answer?.child
    const id = isStarted(u) ? childId(run, u) : (child?.id ?? childKey(run, u))
    if (isStarted(u)) send(run, u, { type: 'retry' })
    else run.out.start.push({ id, unit: u.no, child, isDetached: isDetached(u) })
    note(u, { started: u.round, id, ended: undefined })
    u.touched = true
    if (isDetached(u)) complete(run, u, { output: { runId: id } })
    else waitFor(run, u, null)
  },
  // Its own undo waits for the child to end; the run does not.
  stop(run, u) {
    const keep = isAbandoned(u)
    send(run, u, { type: 'cancel', ...(keep ? { keep } : {}) })
    over(run, u, 'cancelled')
  },
  owes: (u) =>
    isStarted(u) && !isDetached(u) && knownOf(u).kept !== true && outcomeOf(u) !== 'skipped' && !isUndone(u),
  undo(run, u, { keep }) {
    note(u, { keep: keep === true, isTold: false })
    u.phase = 'wait'
    touch(run, u)
    goBack(run, u)
  },
  resumes: goBack,
  mail(run, u, mail) {
    if (mail.child !== childId(run, u)) return ignored('not_waiting')
    if (mail.ended !== undefined) {
      note(u, { ended: mail.ended })
      touch(run, u)
    }
    if (u.phase !== 'wait') return DELIVERED
    if (u.status === 'undoing') wasTold(run, u, mail)
    else if (u.status === 'waiting') ended(run, u, mail)
    return DELIVERED
  },
  hurry(run, u) {
    send(run, u, { type: 'retry' })
    return true
  },
  paused(run, u) {
    send(run, u, { type: run.paused ? 'pause' : 'resume' })
  },
  // A child whose effects stay is found again, whatever was undone before it.
  stays: (u) => u.status === 'completed' && isStarted(u) && !isDetached(u),
  remembers(u) {
    const { started, id, ended: how } = knownOf(u)
    return started === undefined ? null : { started, id, ...(how === undefined ? {} : { ended: how }) }
  },
}

function send(run: Run, u: Unit, mail: Omit<MailOut, 'to'>): void {
  run.out.mail.push({ to: childId(run, u), ...mail })
}

function ended(run: Run, u: Unit, mail: MailIn): void {
  if (mail.ended === 'completed') complete(run, u, { output: mail.output })
  else if (mail.ended !== undefined || mail.refused === true) fail(run, u, mail.error ?? 'child_failed')
  else if (mail.gone === true) {
    // Another child takes its place, under another key.
    u.round += 1
    land(u)
    ask(run, u, 'open')
  }
}

/** Its undo goes as far as is known of the child. */
function goBack(run: Run, u: Unit): void {
  const { ended, keep, isTold } = knownOf(u)
  if (ended === undefined || u.status !== 'undoing' || u.phase !== 'wait') return
  if (ended !== 'completed') undone(run, u)
  else if (keep === true) {
    note(u, { kept: true })
    unharmed(run, u)
  } else if (!run.paused && isTold !== true) {
    note(u, { isTold: true })
    touch(run, u)
    send(run, u, { type: 'undo' })
  }
}

function wasTold(run: Run, u: Unit, { ended, undone: isUndone, refused }: MailIn): void {
  if (refused === true) stick(run, u, 'child_passed_its_pivot')
  else if (isUndone === true) undone(run, u)
  else if (ended !== undefined) goBack(run, u)
}
