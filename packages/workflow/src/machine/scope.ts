import { ask, fly, rest, setOut } from './life.ts'
import {
  goBack,
  hasEnded,
  isAlive,
  isEntered,
  isGoingBack,
  isUndone,
  note,
  outcomeOf,
  passedPivot,
  push,
  tellScope,
  touch,
  undone,
} from './outcomes.ts'
import type { Cause, Note, Phase } from './records.ts'
import { type Run, type Spec, Unit } from './state.ts'

// Scopes: units that open units. Taking them up, what follows when nothing is alive in them, and their undo: one home for all kinds.

/** A new unit, with its row. */
export function birth(
  run: Run,
  scope: Unit | null,
  key: string | number,
  spec: Spec,
  born: Birth = {},
): Unit {
  const round = scope === null ? 1 : Math.max(scope.round, scope.dropped + 1)
  const u = new Unit(run.born, scope, key, spec, round)
  run.born += 1
  run.units[u.no] = u
  u.label = born.label
  if (born.note !== undefined) note(u, born.note)
  join(scope, u)
  touch(run, u, born.item === undefined ? undefined : { item: born.item })
  return u
}

/** What a unit is born with. */
interface Birth {
  readonly label?: string
  readonly note?: Note
  readonly item?: unknown
}

export function join(scope: Unit | null, u: Unit): void {
  scope?.named?.set(u.key, u)
  scope?.units?.push(u)
}

export function at(scope: Unit, key: string | number): Unit | undefined {
  return scope.named === null ? scope.units![key as number] : scope.named.get(key)
}

export function unitAt(run: Run, scope: Unit, key: string | number): Unit {
  return at(scope, key) ?? birth(run, scope, key, scope.kind.specOf!(scope.spec, key)!)
}

/**
 * Takes up a scope over the units that it has, whatever their rows say. First opening, load, the end of a pause, retry, repair and migration are this one
 * walk: what is pending begins, what is under way is counted, what has ended is digested again. So counters live in memory only, and `ended` of a kind
 * does nothing that may not be done twice.
 */
export function enter(run: Run, s: Unit): void {
  s.alive = 0
  s.resting = 0
  s.mem = null
  for (const u of s.units!) {
    u.held = false
    u.isCounted = false
    u.isResting = false
    u.ending = null
    u.telling = null
    u.aside = s.status === 'stopping' && isTakenUp(u)
  }
  if (s.status === 'undoing') enterUndo(run, s)
  else {
    // First what is under way, so that a stop finds it: the kind comes to it one by one.
    for (const u of s.units!) if ((isAlive(u) || undoesItself(u)) && !u.aside) begin(run, u)
    if (s.status === 'open') s.kind.open!(run, s)
  }
  if (s.status === 'stopping' || s.status === 'undoing') takeUpWithin(run, s)
  look(run, s)
}

/** Undos of single units that are under way in a scope which was stopped, and in those of its scopes that have ended and whose own undo has not begun. */
function takeUpWithin(run: Run, s: Unit): void {
  for (const u of s.units!) {
    if (u.units !== null && hasEnded(u)) takeUpWithin(run, u)
    else if (s.status !== 'undoing' && isTakenUp(u)) undo(run, u)
  }
}

/** Whether the undo of its scope will take up the undo of this unit, which is under way. Not if a scope above is undone as one, or not at all. */
export function isTakenUp(u: Unit): boolean {
  if (!isGoingBack(u)) return false
  for (let s = u.scope; s !== null; s = s.scope) {
    if (s.spec.compensate !== undefined || s.note?.cause?.keep === true) return false
  }
  return true
}

/** A unit of an open scope begins, or is taken up where it is. */
export function begin(run: Run, u: Unit): void {
  const s = u.scope!
  if (u.isCounted || (u.status === 'pending' && s.status !== 'open')) return
  u.isCounted = true
  s.alive += 1
  if (hasEnded(u)) {
    if (u.note?.told === true) tellScope(run, u)
    return push(run, u)
  }
  if (u.status === 'pending') {
    u.held = run.paused
    if (!u.held) setOut(run, u)
    return
  }
  if (u.status === 'waiting' && u.phase === 'wait') rest(run, u)
  if (isEntered(u)) {
    enter(run, u)
    if (u.note?.told === true) tellScope(run, u)
    return
  }
  if (run.paused) return
  if (isHeldAsk(u)) fly(run, u)
  else if (u.phase === 'wait') u.kind.resumes?.(run, u)
}

const ASKS: ReadonlySet<Phase | null> = new Set<Phase>(['decide', 'open', 'run', 'timeout', 'undo'])

/** An ask that a pause keeps from leaving. */
export const isHeldAsk = (u: Unit): boolean =>
  ASKS.has(u.phase) && !u.flying && u.tries.due === null && (u.status === 'running' || u.status === 'undoing')

/** Nothing of the scope is alive: what now? */
export function look(run: Run, s: Unit): void {
  if (s.alive > 0) return
  if (s.status === 'open') s.kind.idle!(run, s)
  else if (s.status === 'stopping') drained(run, s)
  else if (s.status === 'undoing') undone(run, s)
}

/** A stopped scope has drained. In a pause the run stays stopped, until it is resumed. */
function drained(run: Run, s: Unit): void {
  const cause = s.note?.cause
  if (s.scope === null && run.paused) return
  // Nothing will take up the undos of single units that are under way: they end first.
  if (passedPivot(s) && hasUndos(s)) return
  const hasFailed = cause?.failed === true || s.note?.failed === true
  // What was told of it stands.
  s.status = s.note?.told === true ? 'completed' : hasFailed ? 'failed' : 'cancelled'
  touch(run, s)
  push(run, s)
}

const hasUndos = (s: Unit): boolean => (s.units ?? []).some((u) => isGoingBack(u) || hasUndos(u))

/** Whether a unit that has ended was stopped or failed for itself, and undoes what it did before its scope hears of its end. */
export function undoesItself(u: Unit): boolean {
  const cause = u.note?.cause
  if (cause === undefined || cause.keep === true || isUndone(u) || !hasEnded(u)) return false
  return u.scope?.status !== 'stopping' && owes(u) && !passedPivot(u)
}

/** Whether its effect is there, or with 'started' may be. */
const hadEffect = (u: Unit, compensate: Spec['compensate']): boolean =>
  !isUndone(u) &&
  (outcomeOf(u) === 'completed' ||
    u.succeeded ||
    (compensate === 'started' && u.touched && u.status !== 'skipped'))

const anyEffect = (u: Unit, compensate: Spec['compensate']): boolean =>
  u.units === null ? hadEffect(u, compensate) : !isUndone(u) && u.units.some((v) => anyEffect(v, compensate))

/** Is there something to undo? A scope with a compensation of its own is undone as one; any other owes what its units owe. */
export function owes(u: Unit): boolean {
  if (isUndone(u)) return false
  const { compensate } = u.spec
  if (u.units !== null) return compensate === undefined ? u.units.some(owes) : anyEffect(u, compensate)
  return u.kind.owes?.(u) ?? (compensate !== undefined && hadEffect(u, compensate))
}

/** Undoes a unit that owes it. One whose undo is under way is taken up. */
export function undo(run: Run, u: Unit): void {
  const isOne = u.units === null || u.spec.compensate !== undefined
  if (isGoingBack(u)) {
    if (!isOne) return enter(run, u)
    if (run.paused) return
    if (isHeldAsk(u)) fly(run, u)
    else if (u.phase === 'wait') u.kind.resumes?.(run, u)
    return
  }
  goBack(run, u)
  if (isOne) ask(run, u, 'undo')
  else enter(run, u)
}

/** Undoes a unit that has ended, while its scope goes on. */
export function takeBack(run: Run, u: Unit, cause: Cause): void {
  if (!owes(u) || passedPivot(u) || undoesItself(u)) return
  note(u, { cause })
  touch(run, u)
  u.scope!.alive += 1
  undoUnlessPaused(run, u)
}

function undoUnlessPaused(run: Run, u: Unit): void {
  u.held = run.paused && !isGoingBack(u)
  if (!u.held) undo(run, u)
}

/** Its turn has come, and a pause keeps its undo from beginning. */
export const isHeldBack = (u: Unit): boolean => u.held && u.scope?.status === 'undoing' && !isGoingBack(u)

/** What an undo still waits for: how many units come before each. */
type Waits = Map<Unit, number>

/** The reverse of the order in which units had to begin. */
function enterUndo(run: Run, s: Unit): void {
  const waits: Waits = new Map()
  s.mem = waits
  for (const u of s.units!) for (const p of s.kind.before!(s, u)) waits.set(p, (waits.get(p) ?? 0) + 1)
  for (const u of s.units!) if (!waits.has(u)) beginUndo(run, u)
}

function beginUndo(run: Run, u: Unit): void {
  u.scope!.alive += 1
  // What owes nothing only keeps the order of the others.
  if (owes(u)) undoUnlessPaused(run, u)
  else push(run, u)
}

/** The undo of a unit has ended: those that it waited for begin theirs. */
export function cleared(run: Run, s: Unit, u: Unit): void {
  const waits = s.mem as Waits
  for (const p of s.kind.before!(s, u)) {
    const left = waits.get(p)! - 1
    waits.set(p, left)
    if (left === 0) beginUndo(run, p)
  }
}
