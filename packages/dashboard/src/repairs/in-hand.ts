import type { BulkOptions, BulkProgress, BulkRefusal, BulkResult, RunsToChange } from '@belay/workflow'
import type { Bulk } from '../actions/bulk.ts'
import type { Repair, RepairRequest, RepairState, Tally } from '../api/many.ts'
import { toldOf } from '../problem.ts'

/** Each id stays in memory until the repair has ended. */
const TAKEN_MAX = 50_000
const SHOWN = 20
const INSTEAD_MAX = 1_000
const NONE: Tally = { matched: 0, changed: 0, refused: 0, unknown: 0 }

/** Who changes the runs, and why. */
interface Begin {
  readonly by: string
  readonly reason: string
}

/** One repair, from its dry run to its end. It goes on whether somebody looks or not. */
export class RepairInHand {
  readonly id: string = crypto.randomUUID()
  readonly asked: RepairRequest
  readonly by: string
  readonly at: number = Date.now()
  state: RepairState = 'counting'
  begun: Repair['begun']
  endedAt: number | undefined
  stoppedBy: string | undefined
  /** Of an error that ended it. */
  trouble: string | undefined
  found: Tally = NONE
  done: Tally | undefined
  /** The first runs that would be changed, or were. */
  shown: readonly string[] = []
  refusals: readonly BulkRefusal[] = []
  instead: readonly string[] = []
  more = false
  readonly #bulk: Bulk
  readonly #stop = new AbortController()
  /** What the dry run found. */
  #ids: ReadonlySet<string> = new Set()

  constructor(asked: RepairRequest, by: string, bulk: Bulk) {
    this.asked = asked
    this.by = by
    this.#bulk = bulk
  }

  get isUnderWay(): boolean {
    return this.state === 'counting' || this.state === 'working'
  }

  /** How many of the runs that were found here it found too. */
  shares({ ids }: { readonly ids: ReadonlySet<string> }): number {
    let shared = 0
    for (const id of ids) if (this.#ids.has(id)) shared += 1
    return shared
  }

  get ids(): ReadonlySet<string> {
    return this.#ids
  }

  /** Looks which runs would be changed. Never rejects. */
  count(runs: RunsToChange): Promise<void> {
    const limit = Array.isArray(runs) ? {} : { limit: TAKEN_MAX }
    return this.#untilEnd(runs, { dryRun: true, ...limit }, (found) => {
      this.found = found
    }).then((dry) => {
      if (dry === undefined) return
      this.more = dry.more
      this.#end(this.#stop.signal.aborted ? 'stopped' : 'counted')
      if (this.state === 'counted') this.#ids = new Set(dry.runIds)
    })
  }

  /** Changes exactly the runs that `count` found. Never rejects. */
  change({ by, reason }: Begin): Promise<void> {
    this.begun = { by, reason, at: Date.now() }
    this.state = 'working'
    this.done = NONE
    return this.#untilEnd([...this.#ids], { by, reason }, (done) => {
      this.done = done
    }).then((result) => {
      if (result === undefined) return
      const left = this.found.changed - result.matched - result.unknown.length
      this.#end(result.more && left > 0 ? 'stopped' : 'done')
    })
  }

  stop(by: string): void {
    if (!this.isUnderWay || this.stoppedBy !== undefined) return
    this.stoppedBy = by
    this.#stop.abort()
  }

  async #untilEnd(
    runs: RunsToChange,
    options: BulkOptions,
    tell: (tally: Tally) => void,
  ): Promise<BulkResult | undefined> {
    try {
      const onProgress = (progress: BulkProgress) => tell({ ...progress, unknown: 0 })
      const result = await this.#bulk(runs, { ...options, signal: this.#stop.signal, onProgress })
      const { matched, changed, refused, unknown } = result
      tell({ matched, changed, refused: refused.length, unknown: unknown.length })
      this.#keep(result)
      return result
    } catch (error) {
      this.trouble = toldOf(error).message
      this.#end('failed')
      return undefined
    }
  }

  #keep({ runIds, refusals }: BulkResult): void {
    this.shown = runIds.slice(0, SHOWN)
    // What the dry run refused still needs somebody once the others are changed.
    this.refusals = [...this.refusals, ...refusals]
    const changed = new Set(runIds)
    const instead = new Set(this.refusals.flatMap((one) => one.instead))
    this.instead = [...instead].filter((id) => !changed.has(id)).slice(0, INSTEAD_MAX)
  }

  #end(state: RepairState): void {
    this.state = state
    this.#ids = new Set()
    // What was counted waits for somebody.
    if (state !== 'counted') this.endedAt = Date.now()
  }
}
