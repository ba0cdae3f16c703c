import { drop, hasBegun } from './again.ts'
import type { Spec } from './kind.ts'
import { hasEnded } from './outcomes.ts'
import { noTries } from './records.ts'
import { DONE, refuseRun, type Told } from './refusals.ts'
import { enter } from './scope.ts'
import type { Run, Unit } from './state.ts'

/** Moves a run to another definition: names map, numbers stay. */
export function migrate(run: Run, spec: Spec): Told {
  const { root } = run
  const goesOn = root.status === 'open' || root.status === 'parked'
  if (!goesOn || run.units.some((u) => u?.flying === true))
    return refuseRun(
      run,
      'moved',
      'it has ended, or handlers of it run',
      'Pause it, and wait for them to end.',
    )
  const before = root.spec
  const why = misfit(root, spec)
  if (why !== null) return refuseRun(run, 'moved', why)
  rebind(root, spec)
  const early = run.units.find((u) => u !== undefined && u.scope !== null && isEarly(u.scope, u))
  if (early !== undefined) {
    rebind(root, before)
    return refuseRun(run, 'moved', `something before ${early.key} has not run`)
  }
  for (const u of run.units) if (u !== undefined && isHeldAtFirst(u)) unask(u)
  grown(run, root)
  enter(run, root)
  return DONE
}

/** Asked once, and held by a pause before it left. */
const isHeldAtFirst = (u: Unit): boolean => u.status === 'running' && u.row === 'pending'

function unask(u: Unit): void {
  u.status = 'pending'
  u.phase = null
  u.serial -= 1
  Object.assign(u.forward, noTries())
}

const isEarly = (s: Unit, u: Unit): boolean =>
  hasBegun(u) && s.kind.before!(s, u).some((p) => p === undefined || !hasEnded(p))

function misfit(u: Unit, spec: Spec | undefined): string | null {
  if (spec === undefined) return hasBegun(u) ? `${u.key} has begun and is not in that version` : null
  if (u.kind !== spec.of) return `${u.key} is of another kind`
  for (const v of u.units ?? []) {
    const why = misfit(v, u.kind.specOf!(spec, v.key))
    if (why !== null) return why
  }
  return null
}

function rebind(u: Unit, spec: Spec | undefined): void {
  if (spec !== undefined) u.spec = spec
  for (const v of u.units ?? []) rebind(v, u.kind.specOf!(u.spec, v.key))
}

/** Scopes that are open lose the units that are no more, and get those that are new. */
function grown(run: Run, s: Unit): void {
  if (s.units === null) return
  drop(run, s, (u) => s.kind.specOf!(s.spec, u.key) === undefined)
  if (s.status !== 'pending' || s.scope === null) s.kind.grow?.(run, s, undefined)
  for (const u of s.units) grown(run, u)
}
