import { nameOf, shownRunStatus, shownStatus } from './shown.ts'
import type { Run } from './state.ts'

/** The most units that an answer names. */
const STEPS_TOLD_MAX = 100

/** What an operator’s action has changed, by the words that people read. */
export interface Changed {
  readonly changed: true
  /** The status of the run. */
  readonly from: string
  readonly to: string
  readonly steps: readonly StepChanged[]
  /** How many more have changed. */
  readonly moreSteps?: number
}

interface StepChanged {
  readonly name: string
  readonly from: string
  readonly to: string
  /** Where it runs again in another one. */
  readonly round?: number
}

/** A run before an action. */
export interface Before {
  readonly status: string
  readonly units: readonly ({ readonly status: string; readonly round: number } | undefined)[]
}

export function shownNow(run: Run): Before {
  const units = run.units.map((u) => u && { status: shownStatus(u), round: u.round })
  return { status: shownRunStatus(run), units }
}

export function changedSince(run: Run, before: Before): Changed {
  const changed = run.units.flatMap((u, no): readonly StepChanged[] => {
    const old = before.units[no]
    if (u === undefined || old === undefined || u.scope === null) return []
    const to = shownStatus(u)
    if (old.status === to) return []
    const round = old.round === u.round ? {} : { round: u.round }
    return [{ name: nameOf(u), from: old.status, to, ...round }]
  })
  const left = changed.length - STEPS_TOLD_MAX
  return {
    ...{
      changed: true,
      from: before.status,
      to: shownRunStatus(run),
      steps: changed.slice(0, STEPS_TOLD_MAX),
    },
    ...(left > 0 ? { moreSteps: left } : {}),
  }
}
