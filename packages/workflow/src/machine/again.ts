import { isUndone, note, outcomeOf, touch } from './outcomes.ts'
import { type Note, noTries } from './records.ts'
import { enter, owes } from './scope.ts'
import type { Run, Unit } from './state.ts'

/** A scope goes forward again, over the units that it has. */
export function reopen(run: Run, s: Unit): void {
  open(run, s)
  enter(run, s)
}

/** The same, once its own scope takes it up. */
export function open(run: Run, s: Unit): void {
  goForward(s)
  s.status = 'open'
  touch(run, s)
}

/** `again`: what did not end well, and what comes after it; `anew`: what comes after an effect that is not there any more. */
type Redo = 'again' | 'anew' | null
type Redos = ReadonlyMap<Unit, Redo>

/** Of a scope: resets what did not end well, and what comes after it. `wanted`: a unit at any depth that runs again although its failure would be kept. */
export function again(run: Run, s: Unit, wanted: Unit | null = null): void {
  const redo = redoOf(s, wanted)
  const isReborn = (u: Unit) => redo.get(u) === 'anew' && s.kind.rebirths === true
  for (const u of s.units!) {
    const how = redo.get(u) ?? null
    if (how !== null && !isReborn(u)) reset(run, u, how === 'anew', wanted)
  }
  drop(run, s, isReborn)
}

/** What runs again in a scope, and how. */
function redoOf(s: Unit, wanted: Unit | null = null): Redos {
  const usual = redosIn(s)
  const asked = wanted === null ? undefined : within(s, wanted)
  return asked === undefined || usual.get(asked) !== null ? usual : redosIn(s, { asked })
}

/** The unit of a scope that another one is, or is in. */
function within(s: Unit, u: Unit): Unit | undefined {
  let x: Unit | null = u
  while (x !== null && x.scope !== s) x = x.scope
  return x ?? undefined
}

/** `asked` runs again although its failure would be kept; `stoodIn` is kept, whatever became of it. */
function redosIn(
  s: Unit,
  { asked, stoodIn }: { readonly asked?: Unit; readonly stoodIn?: Unit } = {},
): Redos {
  const redo = new Map<Unit, Redo>()
  const decide = (u: Unit): Redo => {
    const known = redo.get(u)
    if (known !== undefined) return known
    const found = u === stoodIn ? null : decided(u)
    redo.set(u, found)
    return found
  }
  const decided = (u: Unit): Redo => {
    const before = s.kind.before!(s, u)
    if (before.some((p) => p === asked || decide(p) === 'anew' || isGone(s, p))) return 'anew'
    const isKept = u !== asked && endedWell(s, u) && before.every((p) => decide(p) === null)
    return isKept ? null : 'again'
  }
  for (const u of s.units!) decide(u)
  forgetUntold(s, redo, stoodIn)
  return redo
}

/** A failure that the scope bore is kept only if a unit that was told of it is kept. From the last: what it was told to may itself be such a failure. */
function forgetUntold(s: Unit, redo: Map<Unit, Redo>, stoodIn: Unit | undefined): void {
  const told = new Map<Unit, Unit[]>()
  for (const u of s.units!) {
    for (const p of s.kind.before!(s, u)) {
      const known = told.get(p)
      if (known === undefined) told.set(p, [u])
      else known.push(u)
    }
  }
  const keeps = (v: Unit) => v.status !== 'pending' && (redo.get(v) === null || goesOnWithin(v, redo.get(v)!))
  for (const u of s.units!.toReversed()) {
    if (redo.get(u) !== null || !(isFailure(u) || isUndone(u)) || u === stoodIn) continue
    if (told.get(u)?.some(keeps) !== true) redo.set(u, 'again')
  }
}

/** A scope that runs again in its round keeps what it has opened, and with it what it was told. */
const goesOnWithin = (v: Unit, how: Redo): boolean =>
  how === 'again' &&
  !(isUndone(v) && v.spec.compensate !== undefined) &&
  v.units?.some(({ status }) => status !== 'pending') === true

export const isFailure = ({ status }: Unit): boolean => status === 'failed'

function endedWell(s: Unit, u: Unit): boolean {
  if (u.status === 'completed' || u.status === 'skipped') return true
  if (s.kind.bears?.(s, u) !== true) return false
  if (isUndone(u)) return undidItself(u)
  return isFailure(u) && (u.units === null || u.kind.keepsEffects === true || !owes(u))
}

/** It failed, and has undone what it did before its scope was told. */
const undidItself = ({ of, note }: Unit): boolean =>
  of === 'failed' && note?.cause?.failed === true && note.cause.keep !== true

/** What was there of it is not any more. */
const isGone = (s: Unit, u: Unit): boolean => isUndone(u) && !endedWell(s, u)

/** The scopes that a unit is in, from the root. */
function scopesOf(u: Unit): readonly Unit[] {
  return u.scope === null ? [] : [...scopesOf(u.scope), u.scope]
}

/** Whether a retry of the run would keep this failure: some scope that it is in keeps what it is in. */
export function isKeptFailure(u: Unit): boolean {
  return isFailure(u) && scopesOf(u).some((s) => redoOf(s).get(within(s, u)!) === null)
}

/** Whether something that must have ended before this unit, or a scope that it is in, runs again. */
export function buildsOnRedone(u: Unit): boolean {
  return scopesOf(u).some((s) => {
    const x = within(s, u)!
    if ((x !== u && isWhole(x, false)) || (s.kind.restarts?.(s) ?? null) !== null) return true
    const redo = x === u ? redosIn(s, { stoodIn: u }) : redosIn(s)
    return s.kind.before!(s, x).some((p) => redo.get(p) !== null)
  })
}

/** A unit that would run anew with the one that is wanted, although what it did was not undone. */
export function standingAfter(wanted: Unit): Unit | undefined {
  for (const s of scopesOf(wanted)) {
    for (const [u, how] of redoOf(s, wanted)) if (how === 'anew' && stands(u)) return u
  }
  return undefined
}

/** Its effect is there beyond doubt, and could have been undone. */
function stands(u: Unit): boolean {
  if (u.units !== null && u.spec.compensate === undefined) return !isUndone(u) && u.units.some(stands)
  return owes(u) && (u.units !== null || outcomeOf(u) === 'completed' || u.succeeded)
}

/** It runs again: in another round, with another idempotency key, if its effect is gone or will be had again. */
export function reset(run: Run, u: Unit, isAnew: boolean, wanted: Unit | null = null): void {
  // What never began has used no key.
  if (u.status === 'pending') return
  const restarts = u.kind.restarts?.(u) ?? null
  const isGone = isUndone(u) && (u.units === null || u.spec.compensate !== undefined)
  const hasNewRound = isGone || restarts === 'anew' || (isAnew && u.kind.stays?.(u) !== true)
  const { phase } = u
  const keepsOutput = u.kind.keepsOutput?.(u) === true
  if (restarts !== null) drop(run, u, () => true)
  else if (u.units !== null) resetUnits(run, u, isAnew, wanted)
  // Keys change only after an undo, and for what builds on what is not there any more.
  if (hasNewRound) nextRound(u)
  else {
    Object.assign(u.forward, { failures: 0, losses: 0, kills: 0, due: null, series: null })
    // Its effect of this round stays, whatever its next attempt comes to.
    if (outcomeOf(u) === 'completed') u.succeeded = true
  }
  const isDecided = u.note?.decided === true && u.status !== 'skipped' && !isAnew && !hasNewRound
  goForward(u)
  if (isDecided) note(u, { decided: true })
  if (!hasNewRound && phase !== null && u.forward.attempt > 0) note(u, { tried: phase })
  u.status = 'pending'
  // Not of an earlier time, if it is stopped before it is entered.
  u.alive = 0
  u.resting = 0
  touch(run, u, keepsOutput ? undefined : { output: null })
}

const isWhole = (s: Unit, isAnew: boolean): boolean =>
  isAnew || (s.spec.compensate !== undefined && isUndone(s))

function resetUnits(run: Run, s: Unit, isAnew: boolean, wanted: Unit | null): void {
  if (!isWhole(s, isAnew)) return again(run, s, wanted)
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

/** What the note of a unit keeps when it runs again: what was given at its birth, and what its kind remembers. */
export function remembered(u: Unit): Note | null {
  if (u.note === null) return null
  const { note: known, scope, kind } = u
  const names = (scope?.kind.gives ?? []).filter((name) => name in known)
  const kept = { ...Object.fromEntries(names.map((name) => [name, known[name]])), ...kind.remembers?.(u) }
  return Object.keys(kept).length === 0 ? null : kept
}

/** Units of a scope, and all that is in them. No key of theirs is used again. */
export function drop(run: Run, s: Unit, isGone: (u: Unit) => boolean): void {
  const gone = s.units!.filter(isGone)
  if (gone.length === 0) return
  for (const u of gone) {
    // Of what never began no key was used.
    if (u.serial > 0 || (u.units !== null && u.units.length > 0)) s.dropped = Math.max(s.dropped, u.round)
    if (u.units !== null) drop(run, u, () => true)
    run.out.drop.push(u.no)
  }
  remove(run, s, gone)
  touch(run, s)
}

/** Takes units out of memory. Together: one by one, each would move all that come after it. */
export function remove(run: Run, s: Unit, gone: readonly Unit[]): void {
  for (const u of gone) {
    run.units[u.no] = undefined
    run.out.dirty.delete(u)
    s.named?.delete(u.key)
  }
  let kept = 0
  for (const u of s.units!) if (run.units[u.no] === u) s.units![kept++] = u
  s.units!.length = kept
}
