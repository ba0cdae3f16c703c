import { DELIVERED, ignored } from '../answers.ts'
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
  /** A message is being handled: neither ended nor told. */
  isBusy: boolean
}

const TAKES: ReadonlySet<Unit['status']> = new Set(['pending', 'running', 'waiting', 'open', 'parked'])
const isClosed = (s: Unit): boolean => s.note?.['closed'] === true

/** A unit for each message, in their order, one after the other. */
export const mailbox: Kind = {
  name: 'mailbox',
  specOf: (spec) => (spec as MailboxSpec).each,
  mail(run, s, { body, from, close }) {
    if (isClosed(s) || !TAKES.has(s.status)) return ignored('step_over')
    if (close === true) {
      note(s, { closed: true })
      touch(run, s)
    } else {
      const place = s.units!.length
      birth(run, s, place, (s.spec as MailboxSpec).each, {
        label: String(place + 1),
        item: body,
        ...(from === undefined ? {} : { note: { from } }),
      })
    }
    if (s.status === 'open' && s.mem !== null) next(run, s)
    return s.status === 'pending' ? { result: 'kept' } : DELIVERED
  },
  open(run, s) {
    s.mem = { next: 0, isBusy: false } satisfies Reading
    next(run, s)
  },
  ended(run, s) {
    readingOf(s).isBusy = false
    next(run, s)
  },
  idle(run, s) {
    if (isClosed(s) && readingOf(s).next === s.units!.length)
      complete(run, s, { output: { messages: s.units!.length } })
  },
  before: (s, u) => ((u.key as number) > 0 ? [s.units![(u.key as number) - 1]!] : []),
  gives: ['from'],
  remembers: (s) => (isClosed(s) ? { closed: true } : null),
  bears: (s) => (s.spec as MailboxSpec).collects === true,
  keeps(run, _s, u, { output }) {
    const from = u.note?.['from'] as string | undefined
    if (from !== undefined) run.out.mail.push({ to: from, type: 'reply', body: output })
  },
}

const readingOf = (s: Unit) => s.mem as Reading

function next(run: Run, s: Unit): void {
  const reading = readingOf(s)
  if (reading.isBusy) return
  if (reading.next < s.units!.length) {
    reading.isBusy = true
    reading.next += 1
    begin(run, s.units![reading.next - 1]!)
  } else if (s.alive === 0) mailbox.idle!(run, s)
}
