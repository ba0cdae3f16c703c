import type { SkipReason } from '../adapter/branch.ts'
import type { Answer } from './answers.ts'
import type { Payload } from './changes.ts'
import { type Cause, type Note, noTries, type Phase, type ScopePhase, type Status } from './records.ts'
import type { Run, Unit } from './state.ts'

// What becomes of a unit. Whatever follows from it, in its scope and above, is digested afterwards: see `digest()`.

const ENDED: ReadonlySet<Status> = new Set(['completed', 'skipped', 'failed', 'cancelled', 'undone'])

export const hasEnded = (u: Unit): boolean => ENDED.has(u.status)
export const isAlive = (u: Unit): boolean => u.status !== 'pending' && !ENDED.has(u.status)
export const isUndone = (u: Unit): boolean => u.status === 'undone'
/** Its undo is under way, or parked. */
export const isGoingBack = (u: Unit): boolean => u.status === 'undoing' || u.status === 'stuck'
/** How it ended going forward, whatever was undone afterwards, or what its scope was told. */
export const outcomeOf = (u: Unit): Status => (u.note?.told === true ? 'completed' : (u.of ?? u.status))

const OF_SCOPE: ReadonlySet<Phase | null> = new Set<Phase>(['body', 'until', 'gather'])

/** Asked of a scope whose units are under way, or have ended. */
export const isOfScope = (phase: Phase | null): phase is ScopePhase => OF_SCOPE.has(phase)

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
  dirty.set(u, true)
  if (payload === undefined) return
  const known = payloads.get(u)
  payloads.set(u, known === undefined ? payload : merged(known, payload))
}

/** Of an output and the unit that has it, the later word counts. */
function merged(known: Payload, payload: Payload): Payload {
  const { output: _, outputOf: __, ...others } = known
  return 'output' in payload || 'outputOf' in payload ? { ...others, ...payload } : { ...known, ...payload }
}

export function note(u: Unit, fields: Partial<Note>): void {
  u.note = { ...u.note, ...fields }
}

export function forget(u: Unit, name: keyof Note): void {
  const { [name]: _, ...others } = u.note!
  u.note = Object.keys(others).length === 0 ? null : others
}

/** It has ended, or its undo has. */
export function push(run: Run, unit: Unit): void {
  if (unit.ending !== null) return
  unit.ending = { unit, does: 'end' }
  run.agenda.push(unit.ending)
}

/** Its scope is told that it has completed, before all of its units have ended. */
export function tellScope(run: Run, unit: Unit): void {
  if (unit.telling !== null) return
  unit.telling = { unit, does: 'told' }
  run.agenda.push(unit.telling)
}

/** Whatever it has done stays. */
export function isAbandoned(u: Unit): boolean {
  for (let s: Unit | null = u; s !== null; s = s.scope) if (s.note?.cause?.keep === true) return true
  return false
}

/** Its units are under way, rather than a handler of its own that decides, opens or undoes it. */
export const isEntered = (u: Unit): boolean =>
  u.units !== null && ENTERED.has(u.status) && (u.phase === null || isOfScope(u.phase))
const ENTERED: ReadonlySet<Status> = new Set(['open', 'parked', 'stopping', 'undoing'])

/** Its own units first: after a pivot every failure asks, and a map before the pivot may have many. */
export function passedPivot({ units }: Unit): boolean {
  if (units === null) return false
  return units.some((u) => u.spec.pivot === true && outcomeOf(u) === 'completed') || units.some(passedPivot)
}

/** Who fails with u: itself, if its scope bears that; otherwise the outermost scope that must fail with it; null: it has passed a pivot, in whatever scope. */
export function failing(u: Unit): Unit | null {
  let x = u
  while (x.scope !== null && x.scope.kind.bears?.(x.scope, x) !== true) x = x.scope
  return passedPivot(x) ? null : x
}

export function fail(run: Run, u: Unit, error: unknown): void {
  if (u.scope?.status === 'stopping' || u.status === 'stopping') {
    touch(run, u, { error })
    return over(run, u, 'failed')
  }
  // It has units from before a retry.
  if (u.units !== null && u.units.length > 0 && !isEntered(u)) {
    u.status = 'open'
    u.phase = null
  }
  const head = failing(u)
  if (head === null) return park(run, u, error)
  touch(run, u, { error })
  // What has failed in it is why it fails.
  if (head !== u && head.scope !== null) touch(run, head, { error })
  const stops = head !== u || isEntered(u)
  const keep = head.scope !== null && head.kind.keepsEffects === true
  const cause: Cause = { failed: true, error, unit: u.no, ...(keep ? { keep } : {}) }
  // Before its end: nothing that depends on it begins.
  if (stops) run.agenda.push({ unit: head, does: 'stop', cause })
  if (isEntered(u)) note(u, { failed: true })
  else over(run, u, 'failed')
}

/** Whoever had the ask has it no more. */
export function land(u: Unit): void {
  u.flying = false
  u.recorded = false
}

export function complete(run: Run, u: Unit, answer: Answer & Payload = {}): void {
  keep(run, u, answer)
  over(run, u, 'completed')
}

/** Its outcome is known before all of its units have ended: its scope goes on. */
export function tell(run: Run, u: Unit, answer: Answer & Payload): void {
  if (u.note?.told === true) return
  note(u, { told: true })
  keep(run, u, answer)
  tellScope(run, u)
}

function keep(run: Run, u: Unit, answer: Answer & Payload): void {
  if ('output' in answer) touch(run, u, { output: answer.output })
  else if (answer.outputOf !== undefined) touch(run, u, { outputOf: answer.outputOf })
  else touch(run, u)
  if (u.scope !== null) u.scope.kind.keeps?.(run, u.scope, u, answer)
}

/** It has its outcome. */
export function over(run: Run, u: Unit, status: Status): void {
  bury(run, u)
  stir(u)
  u.status = status
  u.tries.due = null
  touch(run, u)
  push(run, u)
}

/** It does not rest any more. */
export function stir(u: Unit): void {
  if (!u.isResting) return
  u.isResting = false
  u.scope!.resting -= 1
}

/** No transaction may commit its outcome any more. */
export function bury(run: Run, u: Unit): void {
  if (u.within === null) return
  run.out.tombstones.push({ unit: u.no, within: u.within })
  u.within = null
}

/** Its definition skips it. */
export function skip(run: Run, u: Unit, reason: SkipReason): void {
  note(u, { skip: reason })
  // What had come early stays for a retry.
  touch(run, u, u.kind.keepsOutput?.(u) === true ? undefined : { output: null })
  over(run, u, 'skipped')
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
  u.phase = null
  over(run, u, 'undone')
}

/** It stays as it was: nothing of it is undone. */
export function unharmed(run: Run, u: Unit): void {
  const status = u.of!
  u.of = null
  u.undo = null
  u.phase = null
  over(run, u, status)
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
    // Not the undo of its own that it waits for.
    if (v.held && !hasEnded(v)) release(v)
  }
}

/** What a pause held does not count any more. */
export function release(u: Unit): void {
  u.held = false
  u.isCounted = false
  u.scope!.alive -= 1
}

function halt(run: Run, u: Unit, status: 'stuck' | 'parked', error: unknown): void {
  bury(run, u)
  stir(u)
  u.status = status
  land(u)
  u.tries.due = null
  run.parked += 1
  touch(run, u, { error })
}
