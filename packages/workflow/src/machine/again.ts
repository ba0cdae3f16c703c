import { isUndone, note, touch } from './outcomes.ts'
import { type Note, noTries } from './records.ts'
import { enter, owes } from './scope.ts'
import type { Run, Unit } from './state.ts'

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
  const redo = redoOf(s)
  const isReborn = (u: Unit) => redo.get(u) === 'anew' && s.kind.rebirths === true
  for (const u of s.units!) {
    const how = redo.get(u) ?? null
    if (how !== null && !isReborn(u)) reset(run, u, how === 'anew')
  }
  drop(run, s, isReborn)
}

function redoOf(s: Unit): ReadonlyMap<Unit, Redo> {
  const redo = new Map<Unit, Redo>()
  const decide = (u: Unit): Redo => {
    const known = redo.get(u)
    if (known !== undefined) return known
    const isAnew = s.kind.before!(s, u).some((p) => decide(p) !== null)
    const found = isAnew ? 'anew' : endedWell(s, u) ? null : 'again'
    redo.set(u, found)
    return found
  }
  for (const u of s.units!) decide(u)
  forgetUntold(s, redo)
  return redo
}

/** A failure that the scope bore is kept only if a unit that was told of it is kept. From the last: what it was told to may itself be such a failure. */
function forgetUntold(s: Unit, redo: Map<Unit, Redo>): void {
  const told = new Map<Unit, Unit[]>()
  for (const u of s.units!) {
    for (const p of s.kind.before!(s, u)) {
      const known = told.get(p)
      if (known === undefined) told.set(p, [u])
      else known.push(u)
    }
  }
  for (const u of s.units!.toReversed()) {
    if (redo.get(u) !== null || !isFailure(u)) continue
    const isKept = told.get(u)?.some((v) => redo.get(v) === null && v.status !== 'pending') === true
    if (!isKept) redo.set(u, 'again')
  }
}

const isFailure = ({ status }: Unit): boolean => status === 'failed'

function endedWell(s: Unit, u: Unit): boolean {
  if (isUndone(u)) return false
  if (u.status === 'completed' || u.status === 'skipped') return true
  return isFailure(u) && s.kind.bears?.(s, u) === true && !(u.units !== null && owes(u))
}

/** It runs again: in another round, with another idempotency key, if its effect is gone or will be had again. */
export function reset(run: Run, u: Unit, isAnew: boolean): void {
  if (u.status === 'pending') return
  const hasNewRound = isUndone(u) || (isAnew && u.kind.stays?.(u) !== true)
  const keepsOutput = u.kind.keepsOutput?.(u) === true
  if (u.units !== null) resetUnits(run, u, isAnew)
  // Keys change only after an undo, and for what builds on what is not there any more.
  if (hasNewRound) nextRound(u)
  else Object.assign(u.forward, { failures: 0, losses: 0, kills: 0, due: null, series: null })
  const isDecided = u.note?.decided === true && u.status !== 'skipped' && !isAnew && !isUndone(u)
  goForward(u)
  if (isDecided) note(u, { decided: true })
  u.status = 'pending'
  touch(run, u, keepsOutput ? undefined : { output: null })
}

function resetUnits(run: Run, s: Unit, isAnew: boolean): void {
  const isWhole = isAnew || (s.spec.compensate !== undefined && isUndone(s))
  if (!isWhole) return again(run, s)
  const grows = s.kind.grow !== undefined
  const isReborn = (grows && s.kind.asks !== undefined) || (!grows && s.kind.rebirths === true)
  if (isReborn) return drop(run, s, () => true)
  for (const u of s.units!) reset(run, u, true)
}

function nextRound(u: Unit): void {
  u.round += 1
  u.touched = false
  u.succeeded = false
  Object.assign(u.forward, noTries())
}

function goForward(u: Unit): void {
  u.note = remembered(u)
  u.of = null
  u.undo = null
  u.phase = null
  u.forward.due = null
}

/** What the note of a unit keeps when it runs again: what was given at its birth. */
function remembered(u: Unit): Note | null {
  if (u.note === null) return null
  const { note: known, scope, kind } = u
  const names = (scope?.kind.gives ?? []).filter((name) => name in known)
  const kept = { ...Object.fromEntries(names.map((name) => [name, known[name]])), ...kind.remembers?.(u) }
  return Object.keys(kept).length === 0 ? null : kept
}

/** Units of a scope, and all that is in them. Together: taken out one by one, each would move all that come after it. */
export function drop(run: Run, s: Unit, isGone: (u: Unit) => boolean): void {
  const gone = s.units!.filter(isGone)
  if (gone.length === 0) return
  for (const u of gone) {
    if (u.units !== null) drop(run, u, () => true)
    run.units[u.no] = undefined
    run.out.drop.push(u.no)
    run.out.dirty.delete(u)
    s.dropped = Math.max(s.dropped, u.round)
    s.named?.delete(u.key)
  }
  touch(run, s)
  let kept = 0
  for (const u of s.units!) if (run.units[u.no] === u) s.units![kept++] = u
  s.units!.length = kept
}

export const hasBegun = (u: Unit): boolean =>
  u.status !== 'pending' && !(u.status === 'running' && u.row === 'pending')
