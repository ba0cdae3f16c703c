import { drop, isFailure, remove } from './again.ts'
import type { MachineEvent } from './events.ts'
import { unpark } from './operators.ts'
import { hasEnded, isAlive, isEntered, isUndone, passedPivot, touch } from './outcomes.ts'
import { noTries } from './records.ts'
import { AS_IT_WAS, DONE, goesOn, refuseRun, remedyOfUndo, standing, type Told } from './refusals.ts'
import { enter } from './scope.ts'
import { isReady, nameOf, shownStatus } from './shown.ts'
import type { Kind, Run, Spec, Unit } from './state.ts'

type Move = Extract<MachineEvent, { readonly type: 'migrate' }>

const OBSTACLES_SHOWN_MAX = 10

/** Moves a run to another definition: names map, numbers stay. A run that has ended is not entered: a retry goes forward with the new definition. */
export function migrate(run: Run, move: Move): Told {
  const { root } = run
  const { spec, name, version } = move
  if (spec === root.spec) return AS_IT_WAS
  if (root.status === 'completed') return refuseRun(run, 'moved to another version', standing(run))
  if (!goesOn(run) && !hasEnded(root)) {
    return refuseRun(run, 'moved to another version', standing(run), remedyOfUndo(run))
  }
  const kinds = new Map(run.units.flatMap((u) => (u === undefined ? [] : [[u, u.kind] as const])))
  const obstacles = tryOn(run, move, kinds)
  if (obstacles.length > 0) return refuseRun(run, `moved to "${name}" version ${version}`, listed(obstacles))
  touch(run, root)
  for (const [u, kind] of kinds) if (u.scope !== null && run.units[u.no] === u) settle(run, u, kind)
  if (root.status === 'open') enter(run, root)
  return DONE
}

function listed(obstacles: readonly string[]): string {
  const left = obstacles.length - OBSTACLES_SHOWN_MAX
  return [...obstacles.slice(0, OBSTACLES_SHOWN_MAX), ...(left > 0 ? [`and ${left} more`] : [])].join('; ')
}

/** Gives the run its new definition, and the units that are new in it; nothing of that stays if anything is in the way. */
function tryOn(run: Run, move: Move, kinds: ReadonlyMap<Unit, Kind>): readonly string[] {
  const { root, born } = run
  const { spec, version } = move
  const before = root.spec
  const early = [...obstaclesOfInput(before, move), ...obstaclesOfOld(run, move)]
  if (root.kind !== spec.of) return [...early, `it is of another kind in version ${version}`]
  const borne = new Set([...kinds.keys()].filter(isBorne))
  rebind(root, spec)
  grow(run, root)
  const old = [...kinds.keys()].filter((u) => u.scope !== null && isThere(u))
  const obstacles = [
    ...early,
    ...old.flatMap((u) => obstaclesOfNew(run, u, move, { kind: kinds.get(u)!, borne })),
    ...run.units.slice(born).flatMap((u) => obstaclesOfAdded(u!, move)),
  ]
  if (obstacles.length === 0) return []
  const added = run.units.slice(born) as Unit[]
  for (const s of new Set(added.map(({ scope }) => scope!)))
    remove(
      run,
      s,
      s.units!.filter(({ no }) => no >= born),
    )
  run.units.length = born
  run.born = born
  rebind(root, before)
  return obstacles
}

/** A scope of another kind has none of its units any more. */
const isThere = ({ scope, key }: Unit): boolean => scope!.kind.specOf?.(scope!.spec, key) !== undefined
const isBorne = (u: Unit): boolean => isFailure(u) && u.scope?.kind.bears?.(u.scope, u) === true

function rebind(u: Unit, spec: Spec | undefined): void {
  if (spec === undefined) return
  const isOther = u.kind !== spec.of
  u.spec = spec
  if (isOther) return
  for (const v of u.units ?? []) rebind(v, u.kind.specOf!(spec, v.key))
}

function grow(run: Run, s: Unit): void {
  if (s.units === null || s.kind.open === undefined) return
  if (s.status !== 'pending' || s.scope === null || s.units.length > 0) s.kind.grow?.(run, s, undefined)
  for (const u of [...s.units]) grow(run, u)
}

/** The input of a batch is an array of inputs. */
function obstaclesOfInput({ batch }: Spec, { spec, version }: Move): readonly string[] {
  if ((batch === true) === (spec.batch === true)) return []
  const [given, taken] = batch === true ? ['a batch', 'a single input'] : ['a single input', 'a batch']
  return [`the run has ${given}, and version ${version} takes ${taken}`]
}

function obstaclesOfOld(run: Run, { spec, version }: Move): readonly string[] {
  const isDecided = run.units.some((u) => u?.kind.decides !== undefined && u.units!.length > 0)
  if (isDecided) return ['a map or loop of it has its items already']
  const found: string[] = []
  const look = (s: Unit, there: Spec | undefined): void => {
    for (const u of s.units ?? []) {
      const next = there?.of === s.kind ? s.kind.specOf!(there, u.key) : undefined
      if (u.flying) found.push(`step "${nameOf(u)}" is running`)
      else if (next === undefined && hasBegun(u))
        found.push(`step "${nameOf(u)}" is ${shownStatus(u)}, and version ${version} has no such step`)
      else if (next !== undefined) look(u, next)
    }
  }
  if (run.root.flying) found.push('it is running')
  look(run.root, spec)
  return found
}

interface Known {
  readonly kind: Kind
  /** Units past whose failure the run went on. */
  readonly borne: ReadonlySet<Unit>
}

/** What is in the way of a unit that the new definition has. */
function obstaclesOfNew(run: Run, u: Unit, { version }: Move, { kind, borne }: Known): readonly string[] {
  const s = u.scope!
  const step = `step "${nameOf(u)}"`
  if (goesOn(run) && borne.has(u) && !isBorne(u)) {
    return [`the run continued past the failure of ${step}, and version ${version} would stop`]
  }
  const isUnderWay = isAlive(u) && !isReady(u) && (u.status !== 'parked' || isEntered(u))
  const isSettled = hasOutput(u) || borne.has(u) || (isFailure(u) && !passedPivot(run.root))
  const found: string[] = []
  for (const p of isUnderWay || isSettled ? s.kind.before!(s, u) : []) {
    if (hasOutput(p) || isUndone(p) || isBorne(p)) continue
    const where = `depends in version ${version} on "${nameOf(p)}", which has not ended`
    found.push(`${step} ${isUnderWay ? `is ${shownStatus(u)}` : 'has ended'}, but ${where}`)
  }
  if (u.status === 'skipped' && u.note?.standIn !== true && u.spec.skippable !== true) {
    found.push(`${step} was skipped by its condition, and version ${version} always runs it`)
  }
  const hasItems = kind.decides !== undefined && u.units!.length > 0
  const isBound = isUnderWay || (hasBegun(u) && opens(u, kind))
  if (kind !== u.kind && isBound && !hasItems) {
    found.push(`${step} is ${shownStatus(u)}, and is of another kind in version ${version}`)
  }
  return found
}

const hasOutput = ({ status }: Unit): boolean => status === 'completed' || status === 'skipped'

/** It opens units, or did. */
const opens = (u: Unit, kind: Kind): boolean => kind.open !== undefined || u.kind.open !== undefined

function obstaclesOfAdded(u: Unit, { version }: Move): readonly string[] {
  const s = u.scope!
  if (!hasOutput(s)) return []
  return [`step "${nameOf(s)}" is ${shownStatus(s)}, and version ${version} adds "${nameOf(u)}" to it`]
}

/** A unit finds its place in the new definition. */
function settle(run: Run, u: Unit, kind: Kind): void {
  const s = u.scope!
  if (!isThere(u)) return drop(run, s, (v) => v === u)
  const isOther = kind !== u.kind
  if (isOther && opens(u, kind)) {
    drop(run, s, (v) => v === u)
    s.kind.grow?.(run, s, undefined)
  } else if (u.status === 'parked') unpark(run, u)
  else if (isHeldAtFirst(u)) unask(u)
  else if (isReady(u) && (isOther || s.kind.before!(s, u).some((p) => !hasEnded(p)))) putBack(run, u)
}

/** Asked once, and held by a pause before it left. */
const isHeldAtFirst = (u: Unit): boolean => u.status === 'running' && u.row === 'pending'

function unask(u: Unit): void {
  u.status = 'pending'
  u.phase = null
  u.serial -= 1
  Object.assign(u.forward, noTries())
}

/** It begins when its turn comes. */
function putBack(run: Run, u: Unit): void {
  u.status = 'pending'
  u.phase = null
  u.forward.due = null
  touch(run, u)
}

/** It has an outcome, an effect or mail, so it cannot be dropped. */
function hasBegun(u: Unit): boolean {
  const { status, touched, kind, units, forward } = u
  if (touched || units?.some(hasBegun) === true) return true
  if (u.note !== null && (kind.remembers?.(u) ?? null) !== null) return true
  if (status === 'pending' || isHeldAtFirst(u)) return false
  return status !== 'cancelled' || forward.attempt > 0
}
