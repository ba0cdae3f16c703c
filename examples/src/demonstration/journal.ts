import type { Engine, EngineEvents } from '@belay/workflow'
import type { Happening } from '../terminal/run-view.ts'

const TOLD: readonly (keyof EngineEvents)[] = [
  'run.completed',
  'run.compensating',
  'run.failed',
  'run.compensated',
  'run.cancelled',
  'run.compensation_failed',
  'step.started',
  'step.completed',
  'step.compensated',
  'step.retrying',
  'step.failed',
  'step.compensation_failed',
  'step.released',
  'step.discarded',
  'step.recovered',
]

/** Keeps what an engine reports about each run, so that a late reader misses nothing. */
export class Journal {
  readonly #startedAtMs = performance.now()
  readonly #happenings = new Map<string, Happening[]>()
  readonly #readers = new Map<string, (happening: Happening) => void>()

  constructor(engine: Engine) {
    for (const name of TOLD) {
      engine.on(name, (event) => {
        this.#record({ name, event, atMs: performance.now() - this.#startedAtMs } as Happening)
      })
    }
  }

  /** Passes a run's events to a reader, from the first one on. Returns a function that stops it. */
  read(runId: string, reader: (happening: Happening) => void): () => void {
    for (const happening of this.#happenings.get(runId) ?? []) reader(happening)
    this.#readers.set(runId, reader)
    return () => this.#readers.delete(runId)
  }

  #record(happening: Happening): void {
    if (!('runId' in happening.event)) return
    const { runId } = happening.event
    this.#happenings.set(runId, [...(this.#happenings.get(runId) ?? []), happening])
    this.#readers.get(runId)?.(happening)
  }
}
