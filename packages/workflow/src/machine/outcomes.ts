import type { SkipReason } from '../adapter/branch.ts'
import type { Cause, Note, Payload, Run, Status, Unit } from './state.ts'
import { noTries } from './state.ts'

// What becomes of a unit. Whatever follows from it, in its scope and above, is digested afterwards: see `digest()`.

const ENDED: ReadonlySet<Status> = new Set([
  'completed',
  'skipped',
  'failed',
  'unknown',
  'cancelled',
  'undone',
])

export const hasEnded = (u: Unit): boolean => ENDED.has(u.status)
export const isAlive = (u: Unit): boolean => u.status !== 'pending' && !ENDED.has(u.status)
export const isUndone = (u: Unit): boolean => u.status === 'undone'
/** Its undo is under way, or parked. */
export const isGoingBack = (u: Unit): boolean => u.status === 'undoing' || u.status === 'stuck'
/** How it ended going forward, whatever was undone afterwards. */
export const outcomeOf = (u: Unit): Status => u.of ?? u.status

/** No scope above it was stopped or has ended. */
export function goesForward(u: Unit): boolean {
  for (let s = u.scope; s !== null; s = s.scope) {
    if (s.status === 'stopping' || hasEnded(s) || isGoingBack(s)) return false
  }
  return true
}

/** Its row is written at the end of the fold. */
export function touch(run: Run, u: Unit, payload?: Payload): void {
  const { dirty, payloads } = run.out
  dirty.add(u)
  if (payload === undefined) return
  const known = payloads.get(u)
  payloads.set(u, known === undefined ? payload : { ...known, ...payload })
}

export function note(u: Unit, fields: Partial<Note>): void {
  u.note = { ...u.note, ...fields }
}

/** It has ended, or its undo has. */
export function push(run: Run, unit: Unit): void {
  run.agenda.push({ unit, does: 'end' })
}

/** Its units are under way, rather than a handler of its own that decides, opens or undoes it. */
export const isEntered = (u: Unit): boolean =>
  u.units !== null && ENTERED.has(u.status) && (u.phase === null || u.phase === 'body')
const ENTERED: ReadonlySet<Status> = new Set(['open', 'parked', 'stopping', 'undoing'])

/** Its own units first: after a pivot every failure asks, and a map before the pivot may have many. */
export function passedPivot({ units }: Unit): boolean {
  if (units === null) return false
  return units.some((u) => u.spec.pivot === true && outcomeOf(u) === 'completed') || units.some(passedPivot)
}

/** Who fails with u: itself, if its scope bears that; otherwise the outermost scope that must fail with it; null: it has passed a pivot, in whatever scope. */
function failing(u: Unit): Unit | null {
  let x = u
  while (x.scope !== null && x.scope.kind.bears?.(x.scope, x) !== true) x = x.scope
  return passedPivot(x) ? null : x
}

export function fail(run: Run, u: Unit, error: unknown, status: 'failed' | 'unknown' = 'failed'): void {
  if (u.scope?.status === 'stopping' || u.status === 'stopping') {
    touch(run, u, { error })
    return over(run, u, status)
  }
  // It has units from before a retry.
  if (u.units !== null && u.units.length > 0 && !isEntered(u)) {
    u.status = 'open'
    u.phase = null
  }
  const head = failing(u)
  if (head === null) return park(run, u, error)
  touch(run, u, { error })
  const stops = head !== u || isEntered(u)
  const keep = head.scope !== null && head.kind.keepsEffects === true
  const cause: Cause = { failed: true, error, unit: u.no, ...(keep ? { keep } : {}) }
  // Before its end: nothing that depends on it begins.
  if (stops) run.agenda.push({ unit: head, does: 'stop', cause })
  if (isEntered(u)) note(u, { failed: true })
  else over(run, u, status)
}

/** The deadline of a scope. After a pivot it means nothing. */
export function expire(run: Run, s: Unit): void {
  touch(run, s)
  if (failing(s) !== null) fail(run, s, 'deadline')
}

/** Whoever had the ask has it no more. */
export function land(u: Unit): void {
  u.flying = false
  u.recorded = false
}

export function complete(run: Run, u: Unit, output?: unknown): void {
  touch(run, u, { output })
  if (u.scope !== null) u.scope.kind.keeps?.(run, u.scope, u, output)
  over(run, u, 'completed')
}

/** It has its outcome. */
export function over(run: Run, u: Unit, status: Status): void {
  u.status = status
  u.tries.due = null
  touch(run, u)
  push(run, u)
}

/** Its definition skips it. */
export function skip(run: Run, u: Unit, reason: SkipReason): void {
  note(u, { skip: reason })
  touch(run, u, { output: null })
  u.status = 'skipped'
  push(run, u)
}

/** Its undo begins, with a record of its own. */
export function goBack(run: Run, u: Unit): void {
  u.of = u.status
  u.phase = null
  u.undo = noTries()
  u.status = 'undoing'
  // The rows of a scope that is being undone imply the first ask of its units' undos.
  if (u.scope?.status !== 'undoing') touch(run, u)
}

/** Everything that it owed is undone. */
export function undone(run: Run, u: Unit): void {
  u.status = 'undone'
  u.phase = null
  touch(run, u)
  push(run, u)
}

/** Its undo failed for good. */
export function stick(run: Run, u: Unit, error: unknown): void {
  halt(run, u, 'stuck', error)
}

/** It cannot fail its scope, which has passed a pivot: an operator decides. */
export function park(run: Run, u: Unit, error: unknown): void {
  halt(run, u, 'parked', error)
  for (const v of u.units ?? []) {
    // A parked scope implies no asks of its units.
    if (isAlive(v)) touch(run, v)
    if (v.held) release(v)
  }
}

/** What a pause held does not count any more. */
export function release(u: Unit): void {
  u.held = false
  u.scope!.alive -= 1
}

function halt(run: Run, u: Unit, status: 'stuck' | 'parked', error: unknown): void {
  u.status = status
  land(u)
  u.tries.due = null
  run.parked += 1
  touch(run, u, { error })
}
