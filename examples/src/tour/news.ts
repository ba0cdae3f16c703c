import type { StepSnapshot } from '@belay/workflow'
import type { CardRequest } from '../order/accounts.ts'
import type { RunView, StepView } from '../terminal/run-view.ts'
import type { Sight } from './sight.ts'

/** What has happened to a run between two looks, one sentence each: a pure function. */
export function newsBetween(before: Sight | undefined, after: Sight): readonly string[] {
  const steps = after.view.steps.map((step, index) => ({
    state: step.state,
    endedAtMs: endOf(after.run.steps[index]!),
    news: stepNews(before?.view.steps[index], step),
  }))
  const begun = steps.filter(({ state }) => state === 'running' || state === 'undoing')
  const undone = steps.filter(({ state }) => state === 'undone')
  const ended = steps.filter((step) => !begun.includes(step) && !undone.includes(step))
  return [
    ...leaseNews(before, after),
    ...byTime(ended).flatMap(({ news }) => news),
    ...turnNews(before?.view.status, after.view),
    // Reversed before sorting: two undos that ended in the same millisecond cannot be ordered by their times.
    ...byTime(undone.toReversed()).flatMap(({ news }) => news),
    ...begun.flatMap(({ news }) => news),
    ...endNews(before?.view.status, after.view),
  ]
}

function endOf({ undo, finishedAt }: StepSnapshot): number {
  return (undo?.finishedAt ?? finishedAt)?.getTime() ?? 0
}

function byTime<Step extends { readonly endedAtMs: number }>(steps: readonly Step[]): readonly Step[] {
  return steps.toSorted((one, other) => one.endedAtMs - other.endedAtMs)
}

/** One request that the card network received. */
export function requestNews({ asked_by, charge_id, moved_cents }: CardRequest): string {
  const what = moved_cents === 0 ? 'nothing moved, this key has paid' : `${euros(moved_cents)} moved`
  return `${asked_by}, key ${shortKey(charge_id)}: ${what}`
}

function shortKey(key: string): string {
  // The end of a key tells two keys of one run apart.
  return key.length <= 18 ? key : `…${key.slice(-17)}`
}

function euros(cents: number): string {
  return `${(cents / 100).toFixed(2)} €`
}

function turnNews(before: RunView['status'] | undefined, { status }: RunView): readonly string[] {
  const turned = status === 'compensating' || status === 'compensated'
  const hadTurned = before === 'compensating' || before === 'compensated'
  return turned && !hadTurned ? ['what was done is now undone, backwards'] : []
}

function endNews(before: RunView['status'] | undefined, { status }: RunView): readonly string[] {
  const hasEnded = status === 'completed' || status === 'compensated' || status === 'failed'
  return hasEnded && status !== before ? [`run ${status}`] : []
}

function leaseNews(before: Sight | undefined, after: Sight): readonly string[] {
  return after.workers.flatMap(({ name, isKilled, holds }, index) => {
    const held = before?.workers[index]?.holds ?? []
    return isKilled && held.length > 0 && holds.length === 0
      ? [`the lease of ${name} is over: ${held.join(', ')} may be taken over`]
      : []
  })
}

function stepNews(before: StepView | undefined, step: StepView): readonly string[] {
  const { name, state, attempt, worker, error } = step
  if (before !== undefined && before.state === state && before.attempt === attempt) return []
  const by = worker === undefined ? '' : ` by ${worker}`
  const took = step.durationMs === undefined ? '' : ` in ${Math.round(step.durationMs)} ms`
  const ordinal = attempt > 1 ? `, attempt ${attempt}` : ''
  switch (state) {
    case 'running':
      return [`${name}: started${by}${ordinal}`]
    case 'retrying':
      return [`${name}: attempt ${attempt} failed (${error}); it will be tried again`]
    case 'done':
      return [`${name}: completed${by}${took}${ordinal}`]
    case 'undoing':
      return [`${name}: undo started${by}${ordinal}`]
    case 'undone':
      return [`${name}: undone${by}${took}${ordinal}`]
    case 'failed':
      return [`${name}: failed for good after attempt ${attempt} (${error})`]
    case 'undo failed':
      return [`${name}: undo failed for good after attempt ${attempt} (${error})`]
    default:
      return []
  }
}
