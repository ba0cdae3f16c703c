import { span } from '@belay/graph-view'
import {
  type Explanation,
  type RunSnapshot,
  type RunSummary,
  type RunWithSteps,
  type StepState,
  undoReport,
  type WorkerSnapshot,
} from '@belay/workflow'
import type { RunPage } from '../api.ts'
import type { Texts } from './texts.ts'

/** One sentence about a run that goes on: what it waits for. */
export function whyOpen({ steps, sentence }: Explanation): string {
  // The step that needs somebody says more than the run; one that waits for other steps says less.
  const first =
    steps.find(({ actions }) => actions.length > 0) ?? steps.find(({ reason }) => reason !== 'dependency')
  return first?.sentence ?? sentence
}

/**
 * The same from the states of its steps alone, for a list: `"packItem": 3 of 12 items are done.` An explanation says more, but costs some reads for each run.
 */
export function whyListed(run: RunWithSteps, workers: readonly WorkerSnapshot[]): string {
  return `${standing(run)}${FOR_PEOPLE.has(run.status) ? '' : withoutWorker(run, workers)}`
}

const FOR_PEOPLE: ReadonlySet<string> = new Set(['paused', 'parked', 'compensation_failed'])

/** One that does not report its versions is assumed to have all. */
function withoutWorker({ workflow, version }: RunSummary, workers: readonly WorkerSnapshot[]): string {
  const live = workers.filter(({ status }) => status === 'live')
  if (live.length === 0) return ' No worker is live: start one.'
  const isServed = live.some(
    ({ workflows }) => workflows?.some((one) => one.name === workflow && one.version === version) ?? true,
  )
  return isServed ? '' : ' No live worker has its version: start one that has.'
}

function standing({ status, steps, startAt }: RunWithSteps): string {
  const named = (...statuses: readonly StepState['status'][]) =>
    steps.filter((step) => statuses.includes(step.status))
  switch (status) {
    case 'scheduled':
      return startAt === undefined ? 'Has not begun.' : `Begins at ${startAt.toISOString()}.`
    case 'paused':
      return 'An operator paused it.'
    case 'parked':
      return `${names(named('failed'))} failed for good, and waits for an operator.`
    case 'compensation_failed':
      return `The undo of ${names(named('compensation_failed'))} failed for good, and waits for an operator.`
    case 'compensating': {
      const [running, left] = [named('running'), named('compensating')]
      if (running.length > 0) return `Was stopped, and is undone once ${names(running)} has ended.`
      return `Is being undone: ${left.length} ${left.length === 1 ? 'step' : 'steps'} to go, from ${names(left.slice(-1))}.`
    }
    default: {
      const first = named('running')[0] ?? named('waiting')[0] ?? named('ready')[0]
      return first === undefined ? 'Goes on.' : stepWords(first)
    }
  }
}

function stepWords({ name, kind, status, items }: StepState): string {
  if (items !== undefined && items.items > 0)
    return `"${name}": ${items.ended} of ${items.items} items have ended.`
  if (status === 'running') return `"${name}" is running.`
  if (status === 'ready') return `"${name}" waits for a worker, a slot, or its next attempt.`
  return `"${name}" ${WAITS[kind as keyof typeof WAITS] ?? 'waits'}.`
}

const WAITS = {
  signal: 'waits for its signal',
  approval: 'waits for a decision',
  sleep: 'sleeps',
  poll: 'waits for its next check',
  child: 'waits for the run that it started',
} as const

function names(steps: readonly StepState[]): string {
  const [first, ...others] = steps.map(({ name }) => `"${name}"`)
  if (first === undefined) return 'a step'
  return others.length === 0 ? first : `${first} and ${others.length} more`
}

export function hasEnded({ finishedAt }: Pick<RunSummary, 'finishedAt'>): boolean {
  return finishedAt !== undefined
}

/** `Failed after 3 min: "bookCourier" failed with Error: no courier. What took effect was undone.` */
export function whyEnded(run: RunSummary, texts: Texts): string {
  const { status, cause, createdAt, startAt, finishedAt } = run
  const begun = Math.max(createdAt.getTime(), startAt?.getTime() ?? 0)
  const after = span(Math.max(0, (finishedAt ?? run.readAt).getTime() - begun))
  const how = { completed: 'Completed', failed: 'Failed', cancelled: 'Cancelled', compensated: 'Undone' }
  const head = `${how[status as keyof typeof how] ?? status} after ${after}`
  return cause === undefined ? `${head}.` : `${head}: ${causeWords(cause, texts)}.`
}

function causeWords(cause: NonNullable<RunSummary['cause']>, texts: Texts): string {
  switch (cause.type) {
    case 'step_failed':
      return `"${cause.step}" failed with ${texts.error(cause.error, cause.step).replace(/\.$/, '')}`
    case 'cancelled':
      return cause.reason === undefined
        ? 'it was cancelled'
        : `it was cancelled, ${cause.reason.replace(/\.$/, '')}`
    case 'deadline':
      return `it had not ended by its deadline, ${cause.deadlineAt}`
    case 'limit_reached':
      return `limit "${cause.limit}" had no slot`
  }
}

/** What an undo has left. Of a run that was never stopped: nothing. */
export function effectsOf(run: RunSnapshot): RunPage['effects'] {
  const counts = { undone: 0, remain: 0, kept: 0, unknown: 0 }
  if (run.cause === undefined && !run.steps.some(({ undo }) => undo !== undefined)) return counts
  for (const { result } of undoReport(run)) counts[EFFECT[result]] += 1
  return counts
}

const EFFECT = {
  compensated: 'undone',
  skipped: 'undone',
  compensation_failed: 'remain',
  waiting: 'remain',
  succeeded: 'remain',
  irreversible: 'remain',
  kept: 'kept',
  unknown: 'unknown',
} as const
