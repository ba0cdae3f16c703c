import type { JsonText } from '../adapter/new-item.ts'
import type { MailIn } from '../machine/answers.ts'
import type { MailOut } from '../machine/changes.ts'
import type { Answered } from '../machine/index.ts'
import { shownRunStatus } from '../machine/shown.ts'
import type { ChildStart, Mail } from '../store/index.ts'
import type { Asker } from './asker.ts'
import type { Letter, MailEvent, MailOfChild } from './letters.ts'
import type { Owned } from './owned.ts'

export interface FamilyParts {
  readonly newId: () => string
  readonly asker: Pick<Asker, 'errorOf' | 'childError' | 'causeOf'>
}

// Mail between a run and the runs that it has started.

/** What the asker of a child’s `open` answers: what is to be started. */
export interface NewChild extends Omit<ChildStart, 'run'> {
  readonly id: string
  readonly run: Omit<ChildStart['run'], 'id' | 'parent'>
}

/** A child as its parent’s commit starts it. */
export function childStart(owned: Owned, child: NewChild, unit: number, isDetached: boolean): ChildStart {
  const { id, run, ...of } = child
  const parent = { run: owned.id, unit, ...(isDetached ? { detached: true as const } : {}) }
  return { ...of, run: { ...run, id, parent } }
}

const TO_CHILD: Readonly<Record<Exclude<MailOut['type'], 'reply'>, (mail: MailOut) => MailEvent>> = {
  cancel: ({ keep }) => ({ type: 'cancel', compensate: keep !== true, reason: 'parent' }),
  undo: () => ({ type: 'undoRun' }),
  retry: () => ({ type: 'retry', by: 'parent' }),
  pause: () => ({ type: 'pause', by: 'parent' }),
  resume: () => ({ type: 'resume', by: 'parent' }),
}

/** Mail for a child. It goes on with some of it after its end. */
export function mailToChild(mail: MailOut, key: string): Mail | null {
  if (mail.type === 'reply') return null
  const reopens = mail.type === 'undo' || mail.type === 'retry' ? { reopens: true as const } : {}
  return { run: mail.to, key, event: JSON.stringify(TO_CHILD[mail.type](mail)), ...reopens }
}

/** What a parent is told once its child has ended, or is undone. */
export function mailOfEnd(owned: Owned, { newId, asker }: FamilyParts): Mail | null {
  if (!hasParent(owned)) return null
  const { run, code } = owned
  const key = newId()
  const { root } = run
  if (root.status === 'undone' && root.of === 'completed') return mailToParent(owned, key, { undone: true })
  const ended = shownRunStatus(run) as NonNullable<MailIn['ended']>
  // What a child has come to is read by whoever needs it.
  if (ended === 'completed') return mailToParent(owned, key, { ended })
  return mailToParent(owned, key, { ended, workflow: code.workflow }, owned.causeText(asker))
}

/** What a parent is told whose wish was refused. */
export function mailOfRefusal(
  owned: Owned,
  { event }: Letter,
  answer: Answered,
  parts: FamilyParts,
): Mail | null {
  if (!hasParent(owned) || answer === undefined || !('refused' in answer)) return null
  if (event.type === 'undoRun') return mailToParent(owned, parts.newId(), { refused: true })
  const isWished = event.type === 'retry' && event.by === 'parent'
  return isWished && owned.run.root.status === 'completed' ? mailOfEnd(owned, parts) : null
}

const hasParent = ({ parent }: Owned): boolean => parent?.unit != null && parent.detached !== true

function mailToParent({ id, parent }: Owned, key: string, mail: MailOfChild, payload: JsonText = null): Mail {
  const event = { type: 'mail', unit: parent!.unit!, mail: { child: id, ...mail } }
  return { run: parent!.run, key, event: JSON.stringify(event), payload }
}
