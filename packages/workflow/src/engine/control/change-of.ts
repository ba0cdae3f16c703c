import type { HistoryEntry, RunChange, RunToChange } from '../../adapter/index.ts'
import { type Plan, queueEntries } from './plan.ts'

/** The most steps that an entry of the history names. */
const STEPS_TOLD_MAX = 100

/** Who acts and why. */
export interface Actor {
  readonly actor: string | null
  readonly reason: string | null
  /** The engine acts on a child on behalf of its parent: what operators may do to children does not matter. */
  readonly isParent?: true
}

/** Turns a plan into the rows that the store writes, including the entry of the history. */
export function changeOf(
  found: RunToChange,
  plan: Plan,
  action: { readonly name: string; readonly step: number | null } & Actor,
): RunChange {
  const { name, step, actor, reason } = action
  const entry: HistoryEntry = {
    action: name,
    step,
    actor,
    reason,
    change: JSON.stringify(detailsOf(found, plan, step)),
  }
  return {
    run: plan.run,
    steps: plan.steps,
    queue: queueEntries(plan.run, plan.queue),
    history: [entry],
    ...(plan.queuesItems === undefined ? {} : { queuesItems: plan.queuesItems }),
    ...(plan.migration === undefined ? {} : { migration: plan.migration }),
  }
}

function detailsOf(found: RunToChange, plan: Plan, step: number | null): Readonly<Record<string, unknown>> {
  const { run } = found
  const status = run.status === plan.run.status ? {} : { status: { from: run.status, to: plan.run.status } }
  const steps = plan.migration === undefined ? changedSteps(found, plan) : {}
  return { ...(step === null ? {} : { step: found.steps[step]!.name }), ...status, ...steps, ...plan.note }
}

function changedSteps({ steps }: RunToChange, plan: Plan): Readonly<Record<string, unknown>> {
  const changed = plan.steps
    .filter(({ step, status }) => steps[step]!.status !== status)
    .map(({ step, name, status, round }) => {
      const moved = { name, from: steps[step]!.status, to: status }
      return steps[step]!.round === round ? moved : { ...moved, round }
    })
  if (changed.length === 0) return {}
  const left = changed.length - STEPS_TOLD_MAX
  return { steps: changed.slice(0, STEPS_TOLD_MAX), ...(left > 0 ? { moreSteps: left } : {}) }
}
