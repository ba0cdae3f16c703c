import { complete, note, touch } from '../outcomes.ts'
import { begin, birth } from '../scope.ts'
import type { Kind, Run, Spec, Unit } from '../state.ts'

export interface MailboxSpec extends Spec {
  readonly each: Spec
  /** A failed message does not fail the mailbox. */
  readonly collects?: true
}

interface Reading {
  next: number
}

const TAKES: ReadonlySet<Unit['status']> = new Set(['pending', 'running', 'waiting', 'open', 'parked'])

/** A unit for each message, in their order, one after the other. */
export const mailbox: Kind = {
  name: 'mailbox',
  specOf: (spec) => (spec as MailboxSpec).each,
  mail(run, s, { body, from, close }) {
    if (s.note?.['closed'] === true || !TAKES.has(s.status)) return false
    if (close === true) {
      note(s, { closed: true })
      touch(run, s)
    } else birth(run, s, s.units!.length, (s.spec as MailboxSpec).each, { body, from })
    if (s.status === 'open' && s.mem !== null && s.alive === 0) next(run, s)
    return true
  },
  open(run, s) {
    s.mem = { next: 0 } satisfies Reading
    next(run, s)
  },
  ended: next,
  idle(run, s) {
    if (s.note?.['closed'] === true) complete(run, s, { messages: s.units!.length })
  },
  before: (s, u) => ((u.key as number) > 0 ? [s.units![(u.key as number) - 1] as Unit] : []),
  gives: ['body', 'from'],
  holds: ['closed'],
  bears: (s) => (s.spec as MailboxSpec).collects === true,
  keeps(run, _s, u, output) {
    run.out.mail.push({ to: String(u.note?.['from']), type: 'reply', body: output })
  },
}

function next(run: Run, s: Unit): void {
  const reading = s.mem as Reading
  if (reading.next < s.units!.length) {
    reading.next += 1
    begin(run, s.units![reading.next - 1]!)
  } else if (s.alive === 0) mailbox.idle!(run, s)
}
