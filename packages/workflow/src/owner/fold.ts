import { Few } from '../few.ts'
import { empty } from '../machine/changes.ts'
import {
  advance,
  type Changes,
  changes,
  commit,
  failuresFirst,
  type MachineEvent,
  type Run,
} from '../machine/index.ts'
import { hasEnded } from '../machine/outcomes.ts'
import type { Mail, Member, PlainEnd } from '../store/index.ts'
import { eventOf } from './event-of.ts'
import {
  childStart,
  type FamilyParts,
  mailOfEnd,
  mailOfRefusal,
  mailToChild,
  type NewChild,
} from './family.ts'
import { textOf } from './json.ts'
import type { Letter } from './letters.ts'
import type { Flight, Owned } from './owned.ts'
import type { Answered } from './under-way.ts'
import { rowsOf, type Times, takePlainEnds, turnedRun } from './written.ts'

/** Of a run that only waits, and for longer, the memory is freed. */
const STAYS_MS = 2_000

/** What has happened to a run since its last commit, applied. */
export interface Folded {
  readonly owned: Owned
  readonly out: Changes
  /** Applied again if the commit is refused. Mail comes from the store again. */
  readonly events: readonly MachineEvent[]
  readonly answers: readonly Flight[]
  /** Null: there is nothing to write. */
  readonly member: Member | null
}

export interface FoldParts extends FamilyParts {
  /** The store’s clock, in epoch milliseconds. */
  readonly now: () => number
}

// One fold at a time, and its times are used before it ends.
const times = new Few<number, Flight>()

export function fold(owned: Owned, parts: FoldParts): Folded {
  const now = parts.now()
  const { run, events, answers, letters } = owned
  const out = owned.out ?? spareChanges()
  if (events.length > 0) owned.events = []
  if (answers.length > 0) owned.answers = []
  if (letters.length > 0) owned.letters = []
  owned.out = null
  owned.isQueued = false
  owned.isBusy = true
  run.out = out
  times.clear()
  // A beginning and a takeover are what answers build on.
  for (const event of events) advance(run, event, now, out)
  for (const flight of answers.length > 1 ? failuresFirst(run, answers, answerOf) : answers) {
    keepEnd(run, flight)
    advance(run, answerOf(flight), now, out)
  }
  const mail: Mail[] = []
  const applied =
    letters.length === 0 ? NONE : letters.map((letter) => apply(owned, letter, { now, out, mail, parts }))
  const made = memberOf(owned, { applied, mail, times, now, parts })
  return { owned, out, events, answers, member: made }
}

const NONE: readonly never[] = []

const answerOf = ({ answer }: Flight): Answered => answer!

/** When it began and ended, and whether it is the answer that its unit waits for. */
function keepEnd(run: Run, flight: Flight): void {
  const u = run.units[flight.unit]
  flight.counts = u?.flying === true && u.serial === flight.serial
  times.set(flight.unit, flight)
}

interface Applying {
  readonly now: number
  readonly out: Changes
  readonly mail: Mail[]
  readonly parts: FoldParts
}

function apply(owned: Owned, letter: Letter, { now, out, mail, parts }: Applying): Member['applied'][number] {
  const event = withdrawn(owned, eventOf(owned, letter, parts.asker))
  const answer = event !== undefined && 'type' in event ? advance(owned.run, event, now, out) : event
  const told = mailOfRefusal(owned, letter, answer, parts)
  if (told !== null) mail.push(told)
  return { sequence: letter.sequence, answer: textOf(answer) }
}

/** An operator’s word about a step counts as long as no handler of it was called. From now on none is, until it is asked again. */
function withdrawn(owned: Owned, event: ReturnType<typeof eventOf>): ReturnType<typeof eventOf> {
  if (event === undefined || !('type' in event)) return event
  if (event.type === 'pause') return owned.run.paused ? event : { ...event, idle: idleOf(owned) }
  if (event.type !== 'skipStep' && event.type !== 'retryStep') return event
  const flight = owned.flights.get(event.unit)
  if (flight !== undefined && !isIdle(owned, flight)) return event
  if (flight !== undefined) owned.withdraw(flight)
  return { ...event, idle: owned.run.units[event.unit]?.status !== 'stopping' }
}

/** The units whose asks have called nobody. */
function idleOf(owned: Owned): readonly number[] {
  const idle = [...owned.flights.values()].filter((flight) => isIdle(owned, flight))
  for (const flight of idle) owned.withdraw(flight)
  return idle.map(({ unit }) => unit)
}

/** It has called nobody. What is stopped in this very fold is taken back once that is committed. */
const isIdle = ({ run }: Owned, { unit, calledAt }: Flight): boolean =>
  calledAt === null && run.units[unit]?.status !== 'stopping'

interface Made {
  readonly applied: Member['applied']
  readonly mail: Mail[]
  readonly times: Times
  readonly now: number
  readonly parts: FoldParts
}

function memberOf(owned: Owned, { applied, mail, times, now, parts }: Made): Member | null {
  const { run, lost } = owned
  const { out } = run
  const writing = { times, now, asker: parts.asker }
  const ends: PlainEnd[] = []
  const { run: known, rows, drop } = commit(run, takePlainEnds(owned, ends, writing))
  addMail(owned, mail, parts)
  const { births, updates } = rowsOf(owned, { rows, ends }, writing)
  // One that has ended was taken for mail, which it refuses.
  const after = hasEnded(run.root) ? 'ends' : releaseOf(owned, now)
  const rowCount = ends.length + births.length + updates.length + drop.length
  const isEmpty = rowCount + applied.length + mail.length + out.start.length + out.tombstones.length === 0
  if (isEmpty && known === null && after === 'stays' && !lost) return null
  return {
    run: owned.id,
    fence: owned.fence,
    turned: known === null ? null : turnedRun(owned, known, writing),
    ends,
    births,
    updates,
    drops: drop,
    applied,
    mail,
    starts: startsOf(owned),
    tombstones:
      out.tombstones.length === 0 ? NONE : out.tombstones.map(({ unit, within }) => outcomeKey(unit, within)),
    // While somebody owns it, its rows imply that.
    begun: typeof after === 'object' && run.root.status !== 'pending',
    found: lost,
    after,
  }
}

/** To its children, and to its parent. */
function addMail(owned: Owned, mail: Mail[], parts: FoldParts): void {
  const { out } = owned.run
  for (const each of out.mail) {
    const sent = mailToChild(each, parts.newId())
    if (sent !== null) mail.push(sent)
  }
  if (out.ended === null) return
  const told = mailOfEnd(owned, parts)
  if (told !== null) mail.push(told)
}

function startsOf(owned: Owned): Member['starts'] {
  const { start } = owned.run.out
  if (start.length === 0) return NONE
  return start.map(({ child, unit, isDetached }) => childStart(owned, child as NewChild, unit, isDetached))
}

/** Under which the transaction of a step stores its outcome. */
const outcomeKey = (unit: number, within: number): string => `outcome:${unit}:${within}`

/** A run of which nothing is under way is nobody’s while it waits. One that somebody else is to have goes at once. */
function releaseOf(owned: Owned, now: number): Member['after'] {
  const { run, flights, yields } = owned
  if (owned.hasNews) return 'stays'
  const lead = run.priority
  if (yields) {
    if (owned.hasCalled) return 'stays'
    return { due: run.units.some((u) => u?.flying === true) ? now : owned.due, lead }
  }
  if (flights.size > 0 || run.out.dispatch.size > 0) return 'stays'
  const { due } = owned
  return due - now >= STAYS_MS ? { due, lead } : 'stays'
}

// A fold makes little else that lives as long as its commit.
const spare: Changes[] = []
const SPARE_MAX = 2_000

export const spareChanges = (): Changes => spare.pop() ?? changes()

/** Nobody needs these changes any more. */
export function giveBack(out: Changes): void {
  if (spare.length === SPARE_MAX) return
  empty(out)
  spare.push(out)
}
