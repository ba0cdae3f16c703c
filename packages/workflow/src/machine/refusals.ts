import { isAlive, isEntered, passedPivot } from './outcomes.ts'
import type { Run, Status, Unit } from './state.ts'

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

/** As people name it: `charge`, the item `resize[2]`, a step of a graph within `pack[2].label`. */
function nameOf({ scope, key, label }: Unit): string {
  if (scope === null || scope.scope === null) return label ?? String(key)
  return typeof key === 'number' ? `${nameOf(scope)}[${label ?? key}]` : `${nameOf(scope)}.${key}`
}

const SHOWN: Readonly<Partial<Record<Status, string>>> = {
  open: 'running',
  stopping: 'running',
  parked: 'failed',
  undoing: 'compensating',
  stuck: 'compensation_failed',
  undone: 'compensated',
}

/** The status by the word that people read. */
export function shownStatus(u: Unit): string {
  if (u.status === 'running' && !u.flying) return 'ready'
  return SHOWN[u.status] ?? u.status
}

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
      return `it has ended as ${root.of === 'cancelled' ? 'cancelled' : 'compensated'}`
    case 'completed':
      return 'it has completed'
    case 'failed':
    case 'cancelled':
      return `it has ended as ${root.status}`
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

/** `"a"` and others whose undo has failed for good. */
function parkedUndos(run: Run): string {
  const names = run.units.flatMap((u) => (u?.status === 'stuck' ? [`"${nameOf(u)}"`] : []))
  if (names.length === 0) return 'No undo of this run has failed for good.'
  return `These have failed for good: ${names.join(', ')}.`
}

export function remedyOfRetry(run: Run): string | undefined {
  if (!goesOn(run)) return remedyOfUndo(run)
  if (run.paused) return 'Resume it.'
  return 'Nothing in it has failed for good. To bring the next try of a step forward, retry that step.'
}

export function refuseRetry(run: Run, u: Unit): Told {
  const because = `it is ${shownStatus(u)}`
  if (!goesOn(run)) return refuseRun(run, 'retried', standing(run), remedyOfUndo(run))
  if (u.flying || isEntered(u)) return refuseStep(run, u, 'retried', 'it is running', 'Wait for it to end.')
  if (u.status === 'waiting') {
    const remedy = 'Send the signal, or skip the step.'
    return refuseStep(run, u, 'retried', 'it waits for a time or a signal', remedy)
  }
  if (u.status === 'pending') {
    const remedy = 'The explanation of the run tells which.'
    return refuseStep(run, u, 'retried', 'it waits for the steps it depends on', remedy)
  }
  if (u.status === 'failed') {
    const remedy = 'Once the run has ended without completing, it can be retried.'
    return refuseStep(run, u, 'retried', 'the run continued past its failure', remedy)
  }
  return refuseStep(run, u, 'retried', because)
}

export function refuseSkip(run: Run, u: Unit): Told {
  if (u.flying) {
    const because = 'it is running, and what it does cannot be taken back'
    const remedy =
      'Skip it while it waits for its next try; a pause of the run keeps the next try from beginning.'
    return refuseStep(run, u, 'skipped', because, remedy)
  }
  if (u.status === 'pending' || u.alive > 0) {
    const remedy = 'Skip those first, or skip this step when its turn comes.'
    return refuseStep(run, u, 'skipped', 'it waits for the steps it depends on', remedy)
  }
  if (u.status === 'failed') {
    return refuseStep(run, u, 'skipped', 'the run continued past its failure')
  }
  return refuseStep(run, u, 'skipped', `it is ${shownStatus(u)}`)
}

export function refuseUndo(run: Run, u: Unit, participle: string): Told {
  if (u.status !== 'undoing') {
    return refuseStep(run, u, participle, `it is ${shownStatus(u)}`, parkedUndos(run))
  }
  const remedy = 'Wait for it to end, or give up the step if its handler hangs.'
  return refuseStep(run, u, participle, 'its undo is running', remedy)
}
