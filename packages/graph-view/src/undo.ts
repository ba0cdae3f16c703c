import { attemptsOf, indexOf, roundAt, roundOf, timesOf } from './attempts.ts'
import type { ViewRun, ViewStep } from './model.ts'
import { hasEffect, isPastPivot, stateAt, succeededItems } from './state.ts'

export interface UndoPlace {
  readonly step: ViewStep
  /** From 1: the first that is undone. */
  readonly number: number
  /** When its undo began, if it has. */
  readonly startAt?: number | undefined
}

const orders = new WeakMap<ViewRun, Map<number, readonly UndoPlace[]>>()

/** The steps that were or will be undone in a round (default the newest), first those that have begun, by time, then the others in reverse topological order. */
export function undoOrder(run: ViewRun, round = run.rounds): readonly UndoPlace[] {
  const byRound = orders.get(run) ?? new Map<number, readonly UndoPlace[]>()
  orders.set(run, byRound)
  const order = byRound.get(round) ?? orderOf(run, round)
  byRound.set(round, order)
  return order
}

function orderOf(run: ViewRun, round: number): readonly UndoPlace[] {
  const at = timesOf(run, round).endAt
  const later = Number.POSITIVE_INFINITY
  return run.steps
    .map((step, place) => {
      const startAt = attemptsOf(step, 'undo', roundOf(step, round))[0]?.startAt
      return { step, place, startAt, takesPart: stateAt(run, step, at, round).undo !== undefined }
    })
    .filter(({ takesPart }) => takesPart)
    .sort(
      (a, b) =>
        (a.startAt === b.startAt ? 0 : (a.startAt ?? later) - (b.startAt ?? later)) || b.place - a.place,
    )
    .map(({ step, startAt }, index) => ({ step, number: index + 1, startAt }))
}

/** What an undo would cover if the run stopped at this instant, the first first. `items`: how many of a map. */
export function wouldUndo(
  run: ViewRun,
  at: number,
): readonly (UndoPlace & { readonly items?: number | undefined })[] {
  const round = roundAt(run, at)
  return run.steps
    .filter((step) => hasEffect({ run, step, at, round }, stateAt(run, step, at, round).forward))
    .reverse()
    .map((step, index) => ({
      step,
      number: index + 1,
      items: step.items === undefined ? undefined : succeededItems(step, at),
    }))
}

/** Why a step takes no part in the undo, in words. */
export function whyNoUndo(run: ViewRun, step: ViewStep, at: number, round: number): string {
  const { forward } = stateAt(run, step, at, round)
  if (step.compensate === 'never') return 'it has no undo'
  if (step.kept) return 'its child keeps its effects'
  if (isPastPivot(run, at, round)) return 'the run is past its pivot'
  if (forward === 'running' || forward === 'waiting') return 'it has not ended yet'
  return 'it did not complete'
}

/** The steps whose undo has to end before the undo of this step begins. Steps with nothing to undo are looked through. */
export function undoBlockers(run: ViewRun, step: ViewStep, at: number, round: number): readonly string[] {
  const { dependents, step: byName } = indexOf(run)
  const found: string[] = []
  const seen = new Set<string>()
  const open = [...(dependents.get(step.name) ?? [])]
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    if (seen.has(name)) continue
    seen.add(name)
    const { undo } = stateAt(run, byName.get(name)!, at, round)
    if (undo === undefined) open.push(...(dependents.get(name) ?? []))
    else if (undo !== 'undone') found.push(name)
  }
  return found
}
