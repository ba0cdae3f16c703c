import {
  type Adapter,
  checkArgument,
  having,
  type RunRecord,
  type SavedDefinition,
  type StepRecord,
  type UndoPlan,
  type ValueRecord,
} from '@belay/workflow/adapter'

/** What a store holds, as far as it can show it. */
export interface Dump {
  readonly definitions: readonly SavedDefinition[]
  readonly runs: readonly RunDump[]
  /** Claimable steps; only in stores that show them. */
  readonly queue?: readonly QueueDump[]
  /** Only in stores that show them. */
  readonly workers?: readonly WorkerDump[]
  /** Slots and lines of limits; only in stores that show them. */
  readonly limits?: LimitsDump
  /** The runs that have signals, history or values; only in stores that show them. */
  readonly told?: readonly { readonly what: 'signals' | 'history' | 'values'; readonly runId: string }[]
}

export interface RunDump {
  readonly run: RunRecord
  /** In order. */
  readonly steps: readonly StepRecord[]
  /** As watchers see them. */
  readonly values: readonly ValueRecord[]
  /** What the port doesn't show; only in stores that do. */
  readonly stored?: {
    readonly openSteps: number
    readonly endsAs: UndoPlan['endsAs'] | null
    readonly stop: 'failure' | 'cancellation' | 'abandonment' | null
    /** By step: whether a handler has begun in an attempt that did not complete; null if nobody recorded it. */
    readonly begun?: readonly (boolean | null)[]
  }
}

export interface LimitsDump {
  /** `step` is -1 for a slot of a whole run. `isGiven`: to a step that has not entered yet. */
  readonly slots: readonly {
    readonly limit: string
    readonly key: string
    readonly runId: string
    readonly step: number
    readonly fence: number
    readonly isGiven: boolean
    readonly since: number
  }[]
  /** Parked steps. */
  readonly waiters: readonly {
    readonly runId: string
    readonly step: number
    readonly fence: number
    readonly limit: string
    readonly key: string
  }[]
}

export interface QueueDump {
  readonly runId: string
  readonly step: number
  readonly availableAt: number
}

export interface WorkerDump {
  readonly workerId: string
  readonly status: 'live' | 'dead'
  readonly leaseExpiresAt: number
}

const PAGE = 200

/** Reads every run through the port. The port cannot list definitions, so the caller passes those that were saved. */
export async function readDump(adapter: Adapter, definitions: readonly SavedDefinition[]): Promise<Dump> {
  checkArgument('readDump()', 'the adapter', adapter, having<Adapter>('an adapter', ['listRuns', 'readRun']))
  const runs: RunDump[] = []
  let before: string | undefined
  for (;;) {
    const page = await adapter.listRuns({ limit: PAGE, before })
    for (const { runId } of page) {
      const read = await adapter.readRun(runId)
      if (read === null) continue
      const { readAt: _, ...run } = read.run
      runs.push({ ...read, run })
    }
    if (page.length < PAGE) return { definitions, runs }
    before = page.at(-1)!.runId
  }
}
