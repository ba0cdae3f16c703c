import { holdsLease } from '../../adapter/holds-lease.ts'
import type { Adapter, Direction, WorkerRecord } from '../../adapter/index.ts'
import { checkArgument, checkOptions, id, type OptionTable, wholeNumber } from '../../options/index.ts'

const LIST_DEFAULT = 100
const LIST_MAX = 10_000

const OPTIONS = {
  limit: { sets: 'how many are read at most', takes: wholeNumber(1, LIST_MAX), default: LIST_DEFAULT },
} satisfies OptionTable

/** A worker as the registry has it. */
export interface WorkerSnapshot {
  readonly id: string
  readonly name: string
  readonly host: string | undefined
  /**
   * `live`: holds a lease. `expired`: its lease has expired, but it was not declared dead yet and may come back. `dead`: its steps are being
   * returned to the queue; then its row is deleted.
   */
  readonly status: 'live' | 'expired' | 'dead'
  readonly startedAt: Date | undefined
  /** The last renewal of its lease. A worker renews every third of the lease. */
  readonly renewedAt: Date | undefined
  readonly leaseExpiresAt: Date | undefined
  /** The most handlers it runs at once. */
  readonly slots: number | undefined
  /** How many of its slots were taken at the last renewal. */
  readonly busy: number | undefined
  /** The workflow versions it has handlers for. */
  readonly workflows: readonly { readonly name: string; readonly version: number }[] | undefined
}

/** A step that a worker holds. */
export interface HeldStep {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  readonly step: string
  readonly direction: Direction
  /** 1, 2, 3 within a round and direction, as its handler sees it. */
  readonly attempt: number
  /** When it was claimed. */
  readonly since: Date
}

/** Reads the registry of workers, of all processes. */
export class Workers {
  readonly #adapter: Adapter

  constructor(adapter: Adapter) {
    this.#adapter = adapter
  }

  /** Lists workers, the longest registered first. A worker that stopped gracefully is not in the registry. `limit`: 1 to 10,000, default 100. */
  async list(options: { readonly limit?: number } = {}): Promise<readonly WorkerSnapshot[]> {
    const { limit } = checkOptions('workers.list()', options, OPTIONS)
    await this.#adapter.open()
    const [workers, now] = await Promise.all([this.#adapter.listWorkers({ limit }), this.#adapter.now()])
    return workers.map((worker) => workerSnapshot(worker, now))
  }

  /** Lists the steps a worker holds, by run. Empty if there is no such worker. `limit`: 1 to 10,000, default 100. Throws `invalid_option`. */
  async holds(workerId: string, options: { readonly limit?: number } = {}): Promise<readonly HeldStep[]> {
    checkArgument('workers.holds()', 'the worker', workerId, id('worker'))
    const { limit } = checkOptions('workers.holds()', options, OPTIONS)
    await this.#adapter.open()
    const held = await this.#adapter.listHeld({ workerId, limit })
    return held.map(({ runId, workflow, version, name, direction, attempt, since }) => ({
      runId,
      workflow,
      version,
      step: name,
      direction,
      attempt,
      since: new Date(since),
    }))
  }
}

function workerSnapshot(worker: WorkerRecord, now: number): WorkerSnapshot {
  return {
    id: worker.workerId,
    name: worker.name,
    host: worker.host ?? undefined,
    status: worker.status === 'live' && !holdsLease(worker, now) ? 'expired' : worker.status,
    startedAt: instant(worker.startedAt),
    renewedAt: instant(worker.renewedAt),
    leaseExpiresAt: instant(worker.leaseExpiresAt),
    slots: worker.slots ?? undefined,
    busy: worker.busy ?? undefined,
    workflows: worker.workflows ?? undefined,
  }
}

function instant(epochMs: number | null): Date | undefined {
  return epochMs === null ? undefined : new Date(epochMs)
}
