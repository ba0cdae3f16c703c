import type { Engine, EngineEvents, RunEvent, StepEvent } from '@belay/workflow'
import { watchEventLoop } from './event-loop.ts'
import { type Readings, readGauges } from './gauges.ts'
import { kept, type LabelBounds, type Labels, type Measurement } from './labels.ts'
import { COUNTERS, type CounterName, type HistogramName } from './names.ts'

/** What an exporter gives to the engine's watch. */
export interface Sink {
  readonly bounds: LabelBounds
  /** Opens a series of a histogram. What it returns is kept, and is called with each value, in seconds. */
  readonly histogram: (name: HistogramName, labels: Labels) => (seconds: number) => void
}

/** What an engine's events and readings come to, for both exporters. */
export interface EngineWatch {
  /** The series of a counter, from memory. */
  counts(name: CounterName): readonly Measurement[]
  /** See {@link readGauges}. The names of limits are bounded like all labels. */
  gauges(): Promise<Readings>
  stop(): void
}

/**
 * Turns the events of an engine into measurements. A worker may end fifty thousand attempts a second, so the series of a step are looked up by its
 * names without making a key, and counted in place.
 */
export function watchEngine(engine: Engine, sink: Sink): EngineWatch {
  watchEventLoop()
  const counters = new Counters()
  const lost = counters.open('belay.workers.lost', {})
  const workflows = new WorkflowsSeries({ ...sink, counters })
  const ended = (outcome: Outcome) => (event: OutcomeEvent) => {
    const series = workflows.stepOf(event)
    series.ended(outcome).value += 1
    if (event.durationMs === undefined) return
    series.duration(event.durationMs / 1_000)
    series.wait(event.waitedMs! / 1_000)
  }
  const listeners = [
    engine.on('run.started', (run) => {
      workflows.of(run.workflow, run.version).started.value += 1
    }),
    engine.on('run.ended', (run) => workflows.of(run.workflow, run.version).ended(run)),
    ...OUTCOMES.map(([name, outcome]) => engine.on(name, ended(outcome))),
    engine.on('worker.lost', () => {
      lost.value += 1
    }),
    ...countOutages(engine, counters.open('belay.store.outages', {})),
  ]
  return {
    counts: (name) => counters.of(name),
    gauges: async () => bounded(await readGauges(engine), sink.bounds),
    stop: () => {
      for (const remove of listeners) remove()
    },
  }
}

const OUTCOMES = [
  ['step.completed', 'completed'],
  ['step.compensated', 'completed'],
  ['step.retrying', 'retrying'],
  ['step.failed', 'failed'],
  ['step.compensation_failed', 'failed'],
  ['step.waiting', 'waiting'],
  ['step.skipped', 'skipped'],
  ['step.released', 'released'],
  ['step.discarded', 'discarded'],
  ['step.recovered', 'lost'],
] as const satisfies readonly (readonly [keyof EngineEvents, string])[]

type Outcome = (typeof OUTCOMES)[number][1]

type StepIdentity = Pick<StepEvent, 'workflow' | 'version' | 'step' | 'direction'>

/** Of an attempt that was lost or discarded nobody knows its times. */
type OutcomeEvent = StepIdentity & { readonly durationMs?: number; readonly waitedMs?: number }

/** Each kind of call has an event of its own: an outage begins with the first of them, and is over when one is answered again. */
function countOutages(engine: Engine, outages: Count): readonly (() => void)[] {
  let isOut = false
  return [
    engine.on('store.unavailable', () => {
      if (!isOut) outages.value += 1
      isOut = true
    }),
    engine.on('store.recovered', () => {
      isOut = false
    }),
  ]
}

interface Count extends Measurement {
  value: number
}

class Counters {
  readonly #series = new Map<CounterName, Count[]>(COUNTERS.map((name) => [name, []]))

  open(name: CounterName, labels: Labels): Count {
    const count = { labels, value: 0 }
    this.of(name).push(count)
    return count
  }

  of(name: CounterName): Count[] {
    return this.#series.get(name)!
  }
}

interface SeriesParts extends Sink {
  readonly counters: Counters
}

/** The series of all workflows. Its keys are values of labels, so it is bounded as they are. */
class WorkflowsSeries {
  readonly #parts: SeriesParts
  readonly #byName = new Map<string, Map<number | string, WorkflowSeries>>()

  constructor(parts: SeriesParts) {
    this.#parts = parts
  }

  of(workflow: string, version: number): WorkflowSeries {
    return this.#byName.get(workflow)?.get(version) ?? this.#open(workflow, version)
  }

  stepOf({ workflow, version, step, direction }: StepIdentity): StepSeries {
    return this.of(workflow, version).stepOf(step, direction)
  }

  #open(name: string, version: number): WorkflowSeries {
    const { bounds } = this.#parts
    const workflow = bounds.of('workflow', name)
    const shown = bounds.of('version', String(version))
    const versions = kept(this.#byName, workflow, () => new Map<number | string, WorkflowSeries>())
    return kept(
      versions,
      shown === String(version) ? version : shown,
      () => new WorkflowSeries(this.#parts, { workflow, version: shown }),
    )
  }
}

class WorkflowSeries {
  readonly #parts: SeriesParts
  readonly #labels: { readonly workflow: string; readonly version: string }
  readonly #ends = new Map<string, { readonly count: Count; readonly duration: (seconds: number) => void }>()
  readonly #steps = { forward: new Map<string, StepSeries>(), undo: new Map<string, StepSeries>() }
  #started: Count | undefined

  constructor(parts: SeriesParts, labels: { readonly workflow: string; readonly version: string }) {
    this.#parts = parts
    this.#labels = labels
  }

  get started(): Count {
    this.#started ??= this.#parts.counters.open('belay.runs.started', this.#labels)
    return this.#started
  }

  ended({ status, durationMs }: RunEvent): void {
    const { counters, histogram } = this.#parts
    const { workflow } = this.#labels
    const end = kept(this.#ends, status, () => ({
      count: counters.open('belay.runs.ended', { ...this.#labels, status }),
      duration: histogram('belay.run.duration', { workflow, status }),
    }))
    end.count.value += 1
    end.duration(durationMs / 1_000)
  }

  stepOf(name: string, direction: StepEvent['direction']): StepSeries {
    // `resize[3]` and `resize[]` count as `resize`: the name of a step has no bracket, the key of an item may be anything.
    const bracket = name.indexOf('[')
    const own = bracket === -1 ? name : name.slice(0, bracket)
    const steps = this.#steps[direction]
    const known = steps.get(own)
    if (known !== undefined) return known
    const step = this.#parts.bounds.of('step', own)
    return kept(steps, step, () => new StepSeries(this.#parts, { ...this.#labels, step, direction }))
  }
}

/** The series of one step in one direction. */
class StepSeries {
  readonly wait: (seconds: number) => void
  readonly duration: (seconds: number) => void
  readonly #counters: Counters
  readonly #labels: Labels
  readonly #ends = new Map<Outcome, Count>()

  constructor({ counters, histogram }: SeriesParts, labels: Labels & { readonly version: string }) {
    const { version: _, ...ofAllVersions } = labels
    this.#counters = counters
    this.#labels = labels
    this.wait = histogram('belay.queue.wait', ofAllVersions)
    this.duration = histogram('belay.attempt.duration', ofAllVersions)
  }

  ended(outcome: Outcome): Count {
    return kept(this.#ends, outcome, () =>
      this.#counters.open('belay.attempts.ended', { ...this.#labels, outcome }),
    )
  }
}

/** Limits beyond the bound count together. */
function bounded(readings: Readings, bounds: LabelBounds): Readings {
  const sums = new Map<string, number>()
  for (const { labels, value } of readings['belay.limit.waiting'] ?? []) {
    const limit = bounds.of('limit', labels.limit!)
    sums.set(limit, (sums.get(limit) ?? 0) + value)
  }
  const waiting = [...sums].map(([limit, value]) => ({ labels: { limit }, value }))
  return { ...readings, 'belay.limit.waiting': waiting }
}
