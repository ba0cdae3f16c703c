import { isUndone, touch } from './outcomes.ts'
import { enter, owes } from './scope.ts'
import { type Note, noTries, type Run, type Unit } from './state.ts'

/** A scope goes forward again, over the units that it has. */
export function reopen(run: Run, s: Unit): void {
  goForward(s)
  s.status = 'open'
  touch(run, s)
  enter(run, s)
}

/** `again`: what did not end well; `anew`: what comes after such a unit, and so builds on what is not there any more. */
type Redo = 'again' | 'anew' | null

/** Of a scope: resets what did not end well, and what comes after it. */
export function again(run: Run, s: Unit): void {
  const redo = new Map<Unit, Redo>()
  const redoOf = (u: Unit): Redo => {
    const known = redo.get(u)
    if (known !== undefined) return known
    const isAnew = s.kind.before!(s, u).some((p) => redoOf(p) !== null)
    const found = isAnew ? 'anew' : endedWell(s, u) ? null : 'again'
    redo.set(u, found)
    return found
  }
  for (const u of s.units!) redoOf(u)
  for (const u of [...s.units!]) {
    const how = redo.get(u)
    if (how === 'anew' && s.kind.rebirths === true) drop(run, u)
    else if (how !== null) reset(run, u, how === 'anew')
  }
}

function endedWell(s: Unit, u: Unit): boolean {
  if (isUndone(u)) return false
  const { status } = u
  if (status === 'completed' || status === 'skipped') return true
  const isBorne = (status === 'failed' || status === 'unknown') && s.kind.bears?.(s, u) === true
  return isBorne && !(u.units !== null && owes(u))
}

/** It runs again: in another round, with another idempotency key, if its effect is gone or will be had again. */
export function reset(run: Run, u: Unit, isAnew: boolean): void {
  if (u.status === 'pending') return
  if (u.units !== null) resetUnits(run, u, isAnew)
  const isTriedAgain = !isUndone(u) && (u.status === 'failed' || u.status === 'parked')
  if (u.kind.renews === true || !isTriedAgain) nextRound(u)
  else Object.assign(u.forward, { failures: 0, losses: 0, kills: 0, due: null, series: null })
  goForward(u)
  u.status = 'pending'
  touch(run, u, { output: null })
}

function resetUnits(run: Run, s: Unit, isAnew: boolean): void {
  const isWhole = isAnew || (s.spec.compensate !== undefined && isUndone(s))
  if (!isWhole) return again(run, s)
  for (const u of [...s.units!]) {
    if (s.kind.grow !== undefined && s.kind.asks === undefined) reset(run, u, true)
    else if (s.kind.grow !== undefined || s.kind.rebirths === true) drop(run, u)
    else reset(run, u, true)
  }
}

function nextRound(u: Unit): void {
  u.round += 1
  u.touched = false
  Object.assign(u.forward, noTries())
}

function goForward(u: Unit): void {
  u.of = null
  u.undo = null
  u.phase = null
  u.forward.due = null
  u.note = remembered(u)
}

/** What the note of a unit keeps when it runs again: what was given at its birth. */
function remembered({ note, scope, kind }: Unit): Note | null {
  if (note === null) return null
  const names = [...(scope?.kind.gives ?? []), ...(kind.holds ?? [])].filter((name) => name in note)
  return names.length === 0 ? null : Object.fromEntries(names.map((name) => [name, note[name]]))
}

export function drop(run: Run, u: Unit): void {
  for (const v of [...(u.units ?? [])]) drop(run, v)
  run.units[u.no] = undefined
  run.out.drop.push(u.no)
  run.out.dirty.delete(u)
  const { scope } = u
  scope!.named?.delete(u.key)
  scope!.units!.splice(scope!.units!.indexOf(u), 1)
}

export const hasBegun = (u: Unit): boolean =>
  u.status !== 'pending' && !(u.status === 'running' && u.row === 'pending')
