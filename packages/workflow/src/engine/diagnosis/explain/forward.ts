import { holdsLease } from '../../../adapter/holds-lease.ts'
import {
  factsOfKind,
  type JsonText,
  type LimitCircle,
  type LimitWait,
  type RunRecord,
  STEP_KINDS,
  type StepRecord,
} from '../../../adapter/index.ts'
import { rateWords } from '../../../adapter/rate-words.ts'
import type { SerialisedError } from '../../../cause.ts'
import { capacity, withoutWorker } from '../../base/run-capacity.ts'
import { circleRemedy } from '../limit-findings.ts'
import type { Quote } from '../quote.ts'
import type { RunToExplain, StepReasoning } from './explanation.ts'
import { leftOutIn } from './items-left-out.ts'

/** The most names in one sentence: a step may depend on thousands. */
const LISTED_MAX = 5

/** Explains what a forward step that has not ended waits for. */
export function explainForward(found: RunToExplain, step: StepRecord): StepReasoning {
  switch (step.status) {
    case 'running':
      return running(found, step)
    case 'waiting':
      return waiting(found, step)
    case 'ready':
      return ready(found, step)
    case 'failed':
      return failed(found, step)
    default:
      return pending(found, step)
  }
}

function running(found: RunToExplain, step: StepRecord): StepReasoning {
  const { run, now } = found
  const since = step.startedAt === null ? '' : ` since ${instant(step.startedAt)}`
  const gone = goneWorker(found, step)
  if (gone !== null)
    return { step: step.name, reason: 'worker', sentence: `"${step.name}" was started by ${gone}` }
  const resumed = run.status === 'paused' ? ' and the run is resumed' : ''
  const stopped = isStopped(found)
    ? `; the run was stopped, and is undone once this step has ended${resumed}`
    : ''
  const paused =
    run.status === 'paused' && stopped === '' ? '; what comes after it waits until the run is resumed' : ''
  const late = run.deadlineAt !== null && run.deadlineAt <= now ? '; its deadline has passed' : ''
  const attempt = `${nthAttempt(step.attempts)}${toldProgress(found, step)}`
  const sentence = `"${step.name}" has been running on worker ${step.workerId}${since}${attempt}${stopped}${paused}${late}.`
  return { step: step.name, reason: 'running', sentence }
}

/** What a running step told of its progress: `, and has done 3 of 10 (rows)`. Nothing if that was told by an earlier attempt. */
function toldProgress({ values = [], quote }: RunToExplain, { name, step, startedAt }: StepRecord): string {
  const told = values.find((value) => value.key === null && value.step === step)
  if (told === undefined || (startedAt !== null && told.at < startedAt)) return ''
  const { done, total, note } = JSON.parse(told.value)
  const quoted = note === undefined ? '' : quote({ what: 'note', step: name, note })
  return `, and has done ${done}${total === undefined ? '' : ` of ${total}`}${quoted === '' ? '' : ` (${quoted})`}`
}

/** Whether its run was stopped and its undo has not begun. */
function isStopped({ run }: RunToExplain): boolean {
  return run.status === 'compensating' || (run.status === 'paused' && run.cause !== null)
}

/** A sentence about a step's worker that has stopped renewing its lease. Null if it renews. */
export function goneWorker(found: RunToExplain, { workerId }: StepRecord): string | null {
  const { workers, now } = found
  const worker = workers.find((known) => known.workerId === workerId)
  if (worker !== undefined && holdsLease(worker, now)) return null
  const gone = `worker ${workerId}, which has stopped renewing its lease`
  const nobody = withoutWorker(found)
  return nobody === '' ? `${gone}; the next sweep gives the step to another worker.` : `${gone}.${nobody}`
}

function waiting(found: RunToExplain, step: StepRecord): StepReasoning {
  const { name, availableAt, signalledAt } = step
  if (found.run.status === 'paused') return paused(step)
  if (signalledAt !== null || (availableAt !== null && availableAt <= found.now)) return due(found, step)
  const facts = factsOfKind(found.shape.steps[step.step]!.kind)
  // A newer release may have stored a kind that this one does not know: then the row tells whether the step waits for a time.
  switch (facts?.endsBy ?? (availableAt === null ? 'signal' : 'time')) {
    case 'signal': {
      const until = availableAt === null ? {} : { until: new Date(availableAt) }
      const limit =
        availableAt === null ? ', without a time limit' : `, until ${instant(availableAt)} at the latest`
      const what = facts?.signal?.awaited ?? STEP_KINDS.signal.signal.awaited
      return { step: name, reason: 'signal', sentence: `"${name}" waits for ${what}${limit}.`, ...until }
    }
    case 'time':
      return timer(name, 'waits until', availableAt!)
    case 'child':
      return waitsForChild(found, step)
    case 'answer':
      return timer(name, 'checks again at', availableAt!)
  }
}

function waitsForChild(found: RunToExplain, { step, name }: StepRecord): StepReasoning {
  const child = childOf(found, step)
  const who = child === undefined ? 'its child' : `its child, ${standingOf(child)}`
  return { step: name, reason: 'child', sentence: `"${name}" waits for ${who}.`, ...runOf(child) }
}

/** Names the child beside the sentence. */
export function runOf(child: RunRecord | undefined): { readonly childRunId?: string } {
  return child === undefined ? {} : { childRunId: child.runId }
}

/** The newest run that the step started. */
export function childOf({ children = [] }: RunToExplain, step: number): RunRecord | undefined {
  return children.find(({ parent }) => parent?.step === step)
}

export function standingOf({ runId, workflow, version, status }: RunRecord): string {
  const parked = status === 'compensation_failed' ? ': an operator must repair it' : ''
  return `run ${runId} of "${workflow}" version ${version}, which is ${status}${parked}`
}

function timer(step: string, does: string, at: number): StepReasoning {
  return { step, reason: 'timer', sentence: `"${step}" ${does} ${instant(at)}.`, until: new Date(at) }
}

function ready(found: RunToExplain, step: StepRecord): StepReasoning {
  const { run, now } = found
  const { name, availableAt, failures } = step
  if (isStopped(found)) {
    const sentence = `"${name}" will not begin: the run was stopped, and the step is cancelled before the undo begins.`
    return { step: name, reason: 'due', sentence }
  }
  if (run.status === 'paused') return paused(step)
  if (run.startAt !== null && run.startAt > now) {
    const sentence = `"${name}" begins when the run starts, at ${instant(run.startAt)}.`
    return { step: name, reason: 'start', sentence, until: new Date(run.startAt) }
  }
  if (availableAt !== null && availableAt > now) {
    // Only a round of a loop begins with a delay.
    if (failures === 0) return timer(name, 'begins at', availableAt)
    const { told, ...last } = lastError(found.quote, name, step.error)
    const sentence = `"${name}" failed ${times(failures)}${told} and is tried again at ${instant(availableAt)}.`
    return { step: name, reason: 'retry', sentence, until: new Date(availableAt), ...last }
  }
  const limit = found.limitWaits?.find((wait) => wait.step === step.step)
  if (limit === undefined) return due(found, step)
  return waitsForSlot(
    name,
    limit,
    found.limitCircles?.find((circle) => circle.step === step.step),
  )
}

function waitsForSlot(
  step: string,
  { limit, key, place, since, concurrency, inUse, rate, at }: LimitWait,
  circle: LimitCircle | undefined,
): StepReasoning {
  const told = {
    step,
    reason: 'limit',
    limit: { name: limit, key, ...(at === null ? { place } : {}) },
  } as const
  const whose = key === '' ? '' : ` of key "${key}"`
  if (rate !== null) {
    const numbers = concurrency === 0 ? 'which is paused with 0' : rateWords(concurrency, rate)
    const waits = `"${step}" has waited since ${instant(since)} for its turn under rate limit "${limit}"${whose}, ${numbers}`
    if (at === null) return { ...told, sentence: `${waits}; it is number ${place} in the line.` }
    return { ...told, sentence: `${waits}; it begins at ${instant(at)}.`, until: new Date(at) }
  }
  const use =
    concurrency === 0
      ? 'which is set to 0'
      : `of which ${inUse} of ${concurrency} ${concurrency === 1 ? 'is' : 'are'} taken`
  const sentence = `"${step}" has waited since ${instant(since)} for a slot of limit "${limit}"${whose}, ${use}; it is number ${place} in the line.`
  if (circle === undefined) return { ...told, sentence }
  const family = `Run ${circle.holderId}, its parent or one above it, holds a slot of this limit, and waits until this run has ended.`
  return { ...told, sentence: `${sentence} ${family} ${circleRemedy(limit)}` }
}

/** Only after a pivot does a run go on although a step has failed for good. */
function failed({ quote }: RunToExplain, { name, succeeded, error }: StepRecord): StepReasoning {
  const { told, ...last } = lastError(quote, name, error)
  const took = succeeded ? ' Its handler succeeded, but what it returned could not be stored.' : ''
  const sentence = `"${name}" failed for good${told} after a pivot had completed, so the run goes forward only: retry it once its cause is repaired, or skip it with a stand-in for its output.${took}`
  return { step: name, reason: 'operator', sentence, ...last }
}

function pending(found: RunToExplain, step: StepRecord): StepReasoning {
  const { name } = step
  if (isStopped(found)) {
    const sentence = `"${name}" will not begin: the run was stopped, and the step is cancelled before the undo begins.`
    return { step: name, reason: 'due', sentence }
  }
  const { kind, dependsOn } = found.shape.steps[step.step]!
  const before = dependsOn.map((number) => found.steps[number]!)
  // A join waits for items that were not read too.
  const left = kind === 'join' ? leftOutIn(found, (status) => !SETTLED.has(status), dependsOn[0]!) : 0
  const open = before.filter(({ status }) => !SETTLED.has(status))
  if (open.length === 0 && found.run.status === 'paused') return paused(step)
  if (open.length === 0 && step.itemKey !== undefined) return waitsForTurn(name, step.itemKey)
  return { step: name, reason: 'dependency', sentence: `"${name}" waits for ${listOf(open, left)}.` }
}

/** Only the limit of its map holds an item back that waits for nothing else. */
function waitsForTurn(step: string, itemKey: string): StepReasoning {
  const map = step.slice(0, -itemKey.length - '[]'.length)
  const sentence = `"${step}" waits for its turn: map "${map}" limits how many of its items are under way at a time.`
  return { step, reason: 'dependency', sentence }
}

/** Of a run that goes forward: it continued past a step that failed. */
const SETTLED: ReadonlySet<string> = new Set(['completed', 'skipped', 'failed'])

function paused({ name }: StepRecord): StepReasoning {
  const sentence = `"${name}" does not begin until the run is resumed.`
  return { step: name, reason: 'paused', sentence }
}

/** A step that may be claimed now. */
export function due(found: RunToExplain, { name }: StepRecord, what = `"${name}"`): StepReasoning {
  const { reason, because } = capacity(found)
  const move = reason === 'worker' && mayMove(found) ? ', or move the run to a version that a worker has' : ''
  const sentence = reason === 'due' ? `${what} is due: ${because}.` : `${what} is due, but ${because}${move}.`
  return { step: name, reason, sentence }
}

/**
 * Whether another version may help the run and may take it: some worker is live, the run goes forward, and neither a step of it is running nor has a map
 * or a loop of it begun.
 */
export function mayMove({ run, steps, leftOut = [], workers, now }: RunToExplain): boolean {
  const isFree = ({ status, itemKey }: StepRecord) => status !== 'running' && itemKey === undefined
  const hasWorker = workers.some((worker) => holdsLease(worker, now))
  return hasWorker && run.cause === null && leftOut.length === 0 && steps.every(isFree)
}

/** What an attempt failed with, and how a sentence tells it: ` (TypeError: no card)`. */
export function lastError(
  quote: Quote,
  step: string,
  stored: JsonText,
): { readonly told: string; readonly error?: SerialisedError } {
  if (stored === null) return { told: '' }
  const error = JSON.parse(stored) as SerialisedError
  return { told: ` (${quote({ ...error, what: 'error', step })})`, error }
}

/** Names a few of these steps, and counts the others and those that were not read. */
export function listOf(steps: readonly StepRecord[], leftOut: number): string {
  const shown = steps.slice(0, LISTED_MAX).map(({ name, status }) => `"${name}" (${status})`)
  const left = steps.length - shown.length + leftOut
  if (left > 0) shown.push(`${left} more`)
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

export function instant(at: number): string {
  return new Date(at).toISOString()
}

/** Mentions the attempt from the second on. */
export function nthAttempt(attempts: number): string {
  return attempts > 1 ? ` (attempt ${attempts})` : ''
}

export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
