import type { CardRequest } from '../order/accounts.ts'
import type { RunView, StepView } from '../terminal/run-view.ts'
import type { Sight } from './sight.ts'

/** What has happened to a run between two looks, one sentence each: a pure function. */
export function newsBetween(before: Sight | undefined, after: Sight): readonly string[] {
  const steps = after.view.steps.map((step, index) => ({
    step,
    news: stepNews(before?.view.steps[index], step),
  }))
  // What began has begun because something ended.
  const ended = steps.filter(({ step }) => !isUnderWay(step)).flatMap(({ news }) => news)
  const begun = steps.filter(({ step }) => isUnderWay(step)).flatMap(({ news }) => news)
  return [
    ...leaseNews(before, after),
    ...ended,
    ...turnOf(before?.view.status, after.view),
    ...begun,
    ...endOf(before?.view.status, after.view),
  ]
}

function isUnderWay({ state }: StepView): boolean {
  return state === 'running' || state === 'undoing'
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

function turnOf(before: RunView['status'] | undefined, { status }: RunView): readonly string[] {
  if (status === before || status !== 'compensating') return []
  return ['what was done is now undone, backwards']
}

function endOf(before: RunView['status'] | undefined, { status }: RunView): readonly string[] {
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
