import {
  countItems,
  type RunStatus,
  type StepRecord,
  type StepStatus,
  type ValueRecord,
} from '../../adapter/index.ts'
import type { RunCause, SerialisedError } from '../../cause.ts'
import { BelayError } from '../../errors.ts'
import { abortSignal, checkOptions, type OptionTable } from '../../options/index.ts'
import { fromJsonText } from '../base/payload.ts'
import { type StepProgress, stepProgress } from '../base/told-values.ts'
import { mapProgress, openersByMap } from './map-state.ts'
import type { RunFeed, SeenRun } from './run-feed.ts'
import { isOver, outputOf } from './run-snapshot.ts'

/** When to stop watching a run. */
export interface WatchOptions {
  /** Aborting it ends the watch with `watch_aborted`, with the abort reason as the error's cause. The run continues. */
  readonly signal?: AbortSignal | undefined
}

/** One thing that changed in a watched run, as it is now. Several changes of one thing in a short time are told as one. */
export type WatchedChange<Outputs = Readonly<Record<string, unknown>>> =
  | { readonly type: 'run'; readonly status: RunStatus; readonly cause: RunCause | undefined }
  | WatchedStep<Outputs>
  | { readonly type: 'value'; readonly key: string; readonly value: unknown; readonly at: Date }
  | ({ readonly type: 'progress'; readonly step: keyof Known<Outputs> & string } & StepProgress)

/** A step that changed. A step that completed, or that an operator skipped, has its output; so has one that failed and whose run continues. */
export type WatchedStep<Outputs = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof Known<Outputs> & string]: {
    readonly type: 'step'
    readonly step: Name
    readonly status: StepStatus
    /** The attempts begun in its round, as in a snapshot. */
    readonly attempts: number
    readonly output: Known<Outputs>[Name] | undefined
    /** The newest error of the step, or of its undo once that has failed. */
    readonly error: SerialisedError | undefined
  }
}[keyof Known<Outputs> & string]

/** A handle whose type names no step may have any. */
type Known<Outputs> = [keyof Outputs & string] extends [never] ? Readonly<Record<string, unknown>> : Outputs

const OPTIONS = {
  signal: { sets: 'the signal that ends the watch', takes: abortSignal },
} satisfies OptionTable

/** Throws `invalid_option`. */
export function checkWatchOptions(options: WatchOptions = {}): WatchOptions {
  return checkOptions('watch()', options, OPTIONS)
}

/** Iterates over the changes of a run, beginning with its present state, until it is over. `follow` is called with the first `next()`. */
export function watchRun(
  follow: () => Promise<RunFeed>,
  { signal }: WatchOptions,
): AsyncIterableIterator<WatchedChange> {
  let feed: RunFeed | undefined
  let isStopped = false
  const cut = () => feed?.cut(watchAborted(signal!, feed.runId))
  const stop = () => {
    isStopped = true
    signal?.removeEventListener('abort', cut)
    feed?.stop()
  }
  async function* changes(): AsyncGenerator<WatchedChange, undefined> {
    try {
      if (signal?.aborted) throw watchAborted(signal)
      signal?.addEventListener('abort', cut, { once: true })
      feed = await follow()
      if (isStopped) return
      if (signal?.aborted) cut()
      let before: SeenRun | undefined
      for (let now = await feed.next(); now !== undefined; now = await feed.next()) {
        yield* changesBetween(before, now)
        if (isOver(now.run, now.steps)) return
        before = now
      }
    } finally {
      stop()
    }
  }
  const iterator = changes()
  return {
    next: () => iterator.next(),
    // Also ends a next() that waits for a change.
    return: () => {
      stop()
      return iterator.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** What differs between two states of a run. Its end is told last. */
function* changesBetween(before: SeenRun | undefined, now: SeenRun): Generator<WatchedChange> {
  const ends = isOver(now.run, now.steps)
  if (!ends) yield* runChange(before, now)
  const seen = new Map(before?.steps.map((step) => [step.step, step]))
  for (const step of now.steps) {
    const other = seen.get(step.step)
    // Rows that were not read again are the same objects.
    if (other !== step && printOf(other) !== printOf(step)) yield stepChange(step, now.mayFail)
  }
  yield* mapChanges(before, now)
  const known = new Map(before?.values.map((value) => [placeOf(value), value]))
  for (const value of now.values) {
    const other = known.get(placeOf(value))
    if (other?.value !== value.value || other.at !== value.at) yield valueChange(value)
  }
  if (ends) yield* runChange(before, now)
}

/** How far maps are: nobody has to tell that. */
function* mapChanges(before: SeenRun | undefined, now: SeenRun): Generator<WatchedChange> {
  const openers = openersByMap(now.steps)
  if (openers.size === 0) return
  const [counts, earlier] = [countItems(now.steps), countItems(before?.steps ?? [])]
  for (const [map, opener] of openers) {
    const [progress, old] = [mapProgress(opener, counts), mapProgress(opener, earlier)]
    if (progress === undefined || (old?.done === progress.done && old.total === progress.total)) continue
    yield { type: 'progress', step: map, ...progress }
  }
}

function* runChange(before: SeenRun | undefined, { run, steps }: SeenRun): Generator<WatchedChange> {
  const { status, cause } = run
  // A run that is repaired may be parked again before anybody looks: then its end is told though its status is the same.
  if (before?.run.status === status && !isOver(run, steps)) return
  yield { type: 'run', status, cause: fromJsonText(cause) as RunCause | undefined }
}

function printOf(step: StepRecord | undefined): string | undefined {
  if (step === undefined) return undefined
  const { name, status, round, attempts, failures, losses, undo } = step
  return JSON.stringify([name, status, round, attempts, failures, losses, undo?.attempts, undo?.failures])
}

function stepChange(row: StepRecord, mayFail: ReadonlySet<number>): WatchedChange {
  const { step, name, status, attempts, error, undo } = row
  const hasOutput =
    status === 'completed' || status === 'skipped' || (status === 'failed' && mayFail.has(step))
  return {
    type: 'step',
    step: name,
    status,
    attempts,
    output: hasOutput ? outputOf(row, mayFail) : undefined,
    error: fromJsonText(undo?.error ?? error) as SerialisedError | undefined,
  }
}

function placeOf({ step, key }: ValueRecord): string {
  return key === null ? `step ${step}` : `key ${key}`
}

function valueChange(told: ValueRecord): WatchedChange {
  const { name, key, value, at } = told
  if (key === null) return { type: 'progress', step: name, ...stepProgress(told) }
  return { type: 'value', key, value: fromJsonText(value), at: new Date(at) }
}

function watchAborted(signal: AbortSignal, runId?: string): BelayError {
  return new BelayError(
    'watch_aborted',
    `The watch of ${runId === undefined ? 'a run' : `run ${runId}`} was aborted by its signal. The run goes on: watch it again with watch(), or stop it with cancel().`,
    { runId, cause: signal.reason },
  )
}
