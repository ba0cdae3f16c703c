import type { Adapter } from '../../adapter/index.ts'
import { traceparentIn } from './traceparent.ts'

/** The most runs in each of the two generations: some megabytes. */
const RUNS_MAX = 10_000

/** The trace contexts of runs that this process works on. They never change. Bounded by two generations, as the payload cache is. */
export class RunTraceparents {
  readonly #adapter: Pick<Adapter, 'findRun' | 'singleSession'>
  #young = new Map<string, Promise<string | undefined>>()
  #old: ReadonlyMap<string, Promise<string | undefined>> = new Map()

  constructor(adapter: Pick<Adapter, 'findRun' | 'singleSession'>) {
    this.#adapter = adapter
  }

  /** A run that this process has started. */
  remember({ runId, tags = [] }: { readonly runId: string; readonly tags?: readonly string[] | undefined }) {
    this.#keep(runId, Promise.resolve(traceparentIn(tags)))
  }

  /** Asks the store once for each run. `tx`: the open transaction of a handler. */
  of(runId: string, tx: unknown): Promise<string | undefined> {
    const known = this.#young.get(runId) ?? this.#old.get(runId)
    if (known !== undefined) return known
    const asked = this.#read(runId, tx)
    this.#keep(runId, asked)
    // What failed is asked again. The caller gets the error.
    asked.catch(() => this.#young.delete(runId))
    return asked
  }

  async #read(runId: string, tx: unknown): Promise<string | undefined> {
    // Elsewhere a read in the user's transaction could make it fail. The only session of a store would wait for its end.
    const isWithin = tx !== undefined && this.#adapter.singleSession === true
    const run = await this.#adapter.findRun({ runId }, isWithin ? { tx } : undefined)
    return run === null ? undefined : traceparentIn(run.tags)
  }

  #keep(runId: string, traceparent: Promise<string | undefined>): void {
    if (this.#young.size >= RUNS_MAX) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(runId, traceparent)
  }
}
