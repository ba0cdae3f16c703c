import { buildsOnRedone, isFailure, isKeptFailure } from './again.ts'
import { isAlive, isEntered, isGoingBack, outcomeOf, passedPivot } from './outcomes.ts'
import { owes } from './scope.ts'
import { isReady, nameOf, quoted, shownRunStatus, shownStatus } from './shown.ts'
import type { Run, Unit } from './state.ts'

/** Why an operator’s action is refused, and what to do instead. Nothing has changed. */
export interface Refusal {
  readonly code: 'action_refused' | 'invalid_option'
  /** One sentence: who cannot be what, and why. */
  readonly what: string
  /** What to do instead, as sentences; undefined where nothing is to be said. */
  readonly remedy?: string
}

/** What an operator is told. `changed: false`: it was so already. */
export type Told = { readonly changed: boolean } | { readonly refused: Refusal }

export const DONE: Told = { changed: true }
export const AS_IT_WAS: Told = { changed: false }

/** `participle`: what cannot be done with it, like `paused`. */
export function refuseRun(run: Run, participle: string, because: string, remedy?: string): Told {
  return refused(`Run ${run.id} cannot be ${participle}: ${because}.`, remedy)
}

export function refuseStep(run: Run, u: Unit, participle: string, because: string, remedy?: string): Told {
  return refused(`Step "${nameOf(u)}" of run ${run.id} cannot be ${participle}: ${because}.`, remedy)
}

function refused(what: string, remedy: string | undefined): Told {
  return { refused: { code: 'action_refused', what, ...(remedy === undefined ? {} : { remedy }) } }
}

export function unknownUnit(run: Run, unit: number): Told {
  return { refused: { code: 'invalid_option', what: `Run ${run.id} has no step with the number ${unit}.` } }
}

/** It has not been stopped, and has not ended. */
export const goesOn = ({ root }: Run): boolean =>
  root.status === 'open' || root.status === 'parked' || root.status === 'pending' || root.status === 'running'

/** Of a run as it stands: why it cannot be changed so. */
export function standing(run: Run): string {
  const { root, paused } = run
  switch (root.status) {
    case 'stopping':
      return paused ? 'it was stopped, and is paused before its undo' : 'it is being undone'
    case 'undoing':
      if (paused) return 'its undo is paused'
      return run.parked > 0 ? 'its undo is parked, because that of a step failed' : 'it is being undone'
    case 'undone':
    case 'failed':
    case 'cancelled':
      return `it has ended as ${shownRunStatus(run)}`
    case 'completed':
      return 'it has completed'
    default:
      return paused ? 'it is paused' : 'it is running'
  }
}

/** What to do with a run that is stopped, and has not ended. */
export function remedyOfUndo({ root, paused, parked }: Run): string | undefined {
  if (!isAlive(root)) return undefined
  if (paused) return 'Resume it, and wait until its undo has ended.'
  return parked > 0
    ? 'Repair the parked undo first: retry it, or mark it as undone.'
    : 'Wait until its undo has ended.'
}

/** The name of the pivot that a scope has passed. */
export function passedPivotOf(s: Unit): string {
  for (const u of s.units ?? []) {
    if (u.spec.pivot === true && (u.of ?? u.status) === 'completed') return nameOf(u)
    if (passedPivot(u)) return passedPivotOf(u)
  }
  return ''
}

/** Why a run is not one that has ended without completing; null if it is. `alone`: for a child, whose parent decides. */
export function refuseRetry(run: Run, participle: string, alone = 'retried alone'): Told | null {
  const { root, parent } = run
  if (goesOn(run)) {
    const forward = run.paused
      ? 'Resume it.'
      : 'Nothing in it has failed for good. To bring the next try of a step forward, retry that step.'
    return refuseRun(run, participle, standing(run), forward)
  }
  if (root.status === 'completed') return refuseRun(run, participle, standing(run), 'Start another run.')
  if (isAlive(root)) return refuseRun(run, participle, standing(run), remedyOfUndo(run))
  if (parent === null) return null
  const remedy = `Retry run ${parent} once it has ended or is parked: its step runs again with a child. If it has completed, start another run instead.`
  return refuseRun(run, alone, 'it shares the fate of its parent', remedy)
}

/** In a run that goes on. */
export function refuseRetryStep(run: Run, u: Unit): Told {
  if (u.flying || isEntered(u)) return refuseStep(run, u, 'retried', 'it is running', 'Wait for it to end.')
  if (u.status === 'waiting') {
    const remedy = 'Send the signal, or skip the step.'
    return refuseStep(run, u, 'retried', 'it waits for a time or a signal', remedy)
  }
  if (u.status === 'pending') {
    const remedy = 'The explanation of the run tells which.'
    return refuseStep(run, u, 'retried', 'it waits for the steps it depends on', remedy)
  }
  if (isFailure(u)) {
    const remedy = 'Once the run has ended without completing, it can be retried.'
    return refuseStep(run, u, 'retried', CONTINUED, remedy)
  }
  return refuseStep(run, u, 'retried', `it is ${shownStatus(u)}`)
}

const CONTINUED = 'the run continued past its failure'

export function refuseStanding(run: Run, u: Unit): Told {
  const because = 'it would run anew, with a step on whose failure it builds, and what it did was not undone'
  return refuseStep(run, u, 'retried', because)
}

/** Its handler is to say what it opens, or was when it ended. */
const isDeciding = ({ status, phase }: Unit): boolean =>
  status === 'pending' || phase === 'decide' || phase === 'open'

/** Why a step cannot be skipped in a run that goes on; null if it can. */
export function refuseSkip(run: Run, u: Unit): Told | null {
  const { scope, kind } = u
  if (kind.decides !== undefined && isDeciding(u)) {
    return refuseStep(run, u, 'skipped', kind.decides.because, kind.decides.remedy)
  }
  if (u.flying) {
    const because = 'it is running, and what it does cannot be taken back'
    const remedy =
      'Skip it while it waits for its next try; a pause of the run keeps the next try from beginning.'
    return refuseStep(run, u, 'skipped', because, remedy)
  }
  if (shownStatus(u) === 'pending' || (u.alive > 0 && isEntered(u))) {
    const remedy = 'Skip those first, or skip this step when its turn comes.'
    return refuseStep(run, u, 'skipped', 'it waits for the steps it depends on', remedy)
  }
  const waits = u.status === 'waiting' || u.status === 'parked' || isReady(u)
  if (waits && (scope?.status === 'open' || scope?.status === 'parked')) return null
  return refuseStep(run, u, 'skipped', isFailure(u) ? CONTINUED : `it is ${shownStatus(u)}`)
}

/** The same in a run that does not: it must be what failed. */
export function refuseSkipOfEnded(run: Run, u: Unit): Told | null {
  const { kind } = u
  if (kind.decides !== undefined && isDeciding(u)) {
    return refuseStep(run, u, 'skipped', kind.decides.because, kind.decides.remedy)
  }
  const refused = refuseRetry(run, 'continued by skipping a step', 'continued alone')
  if (refused !== null) return refused
  if (isKeptFailure(u)) {
    const remedy = 'Retry it instead: it runs again, with the steps that were told of it.'
    return refuseStep(run, u, 'skipped', CONTINUED, remedy)
  }
  if (u.scope === null || !hasFailed(u)) {
    const failed = whatFailed(run)
    const remedy = failed === undefined ? undefined : `That is "${nameOf(failed)}".`
    return refuseStep(run, u, 'skipped', `it is ${shownStatus(u)}, and what failed is another step`, remedy)
  }
  if (!buildsOnRedone(u)) return null
  const remedy = 'Retry the run, and skip the step while it waits for its next try.'
  return refuseStep(run, u, 'skipped', 'steps that it depends on must run again before it', remedy)
}

/** It failed by itself, rather than with something in it. */
function hasFailed(u: Unit): boolean {
  const outcome = outcomeOf(u)
  return outcome === 'failed' && (u.note?.cause?.unit ?? u.no) === u.no
}

function whatFailed({ root, units }: Run): Unit | undefined {
  const cause = units[root.note?.cause?.unit ?? 0]
  if (cause !== undefined && cause !== root) return cause
  const failed = units.filter((u): u is Unit => u !== undefined && u !== root && hasFailed(u))
  return failed.find((u) => !isKeptFailure(u)) ?? failed[0]
}

export function unexplained(): Told {
  const what = 'giveUpStep(): reason must be given: say how you know that the handler will not end.'
  return { refused: { code: 'invalid_option', what } }
}

export function refuseGiveUp(run: Run, u: Unit): Told {
  if (!u.flying) return refuseStep(run, u, 'given up', `it is ${shownStatus(u)}, and no handler of it runs`)
  const remedy =
    'Cancel the run first: that signals its handlers; this is for a handler that ignores its signal.'
  return refuseStep(run, u, 'given up', 'its run goes forward', remedy)
}

export function refuseUndo(run: Run, u: Unit, participle: string): Told {
  if (u.status === 'undoing') {
    const remedy = 'Wait for it to end, or give up the step if its handler hangs.'
    return refuseStep(run, u, participle, 'its undo is running', remedy)
  }
  const earlier = undoneBefore(u)
  if (earlier.length > 0) {
    const remedy = 'Its explanation tells what those wait for.'
    return refuseStep(run, u, participle, `it is undone after ${quoted(earlier)}`, remedy)
  }
  const stuck = run.units.filter((v): v is Unit => v?.status === 'stuck').toSorted(byPlace)
  const remedy =
    stuck.length === 0
      ? 'No undo of this run has failed for good.'
      : `These have failed for good: ${quoted(stuck)}.`
  return refuseStep(run, u, participle, `it is ${shownStatus(u)}`, remedy)
}

/** In the order of the definition: units within a step stand with it. */
function byPlace(one: Unit, other: Unit): number {
  const [path, otherPath] = [placeOf(one), placeOf(other)]
  for (const [depth, no] of path.entries()) if (no !== otherPath[depth]) return no - (otherPath[depth] ?? -1)
  return -1
}

const placeOf = (u: Unit): readonly number[] => (u.scope === null ? [] : [...placeOf(u.scope), u.no])

/** What the undo of a unit waits for: undos of its scope, or of a scope above that comes before it. */
function undoneBefore(u: Unit): readonly Unit[] {
  if (!owes(u)) return []
  for (let x = u; x.scope !== null; x = x.scope) {
    if (x.scope.status === 'undoing') return openAfter(x.scope, x)
  }
  return []
}

/** The next units whose undo is open, past those that owe nothing and only keep the order. */
function openAfter(s: Unit, u: Unit): readonly Unit[] {
  const found = new Set<Unit>()
  for (const v of s.units!) {
    if (!s.kind.before!(s, v).includes(u)) continue
    if (isGoingBack(v) || owes(v)) found.add(v)
    else for (const each of openAfter(s, v)) found.add(each)
  }
  return [...found]
}
