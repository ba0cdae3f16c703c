import {
  type Adapter,
  checkArgument,
  having,
  type RunRecord,
  type SavedDefinition,
  type StepRecord,
  type UndoPlan,
} from '@belay/workflow/adapter'

/** Everything a store holds, as far as it shows it. */
export interface Dump {
  readonly definitions: readonly SavedDefinition[]
  readonly runs: readonly RunDump[]
  /** What may be claimed; only of stores that show it. */
  readonly queue?: readonly QueueDump[]
  /** Only of stores that show them. */
  readonly workers?: readonly WorkerDump[]
  /** The runs that signals and history are of; only of stores that show them. */
  readonly told?: readonly { readonly what: 'signals' | 'history'; readonly runId: string }[]
}

export interface RunDump {
  readonly run: RunRecord
  /** In order. */
  readonly steps: readonly StepRecord[]
  /** What the port doesn't show; only of stores that do. */
  readonly stored?: {
    readonly openSteps: number
    readonly endsAs: UndoPlan['endsAs'] | null
    readonly stop: 'failure' | 'cancellation' | 'abandonment' | null
    /** By step: whether a handler of an attempt that did not complete has begun; null where nobody recorded it. */
    readonly begun?: readonly (boolean | null)[]
  }
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

/** Reads every run through the port. The port cannot list definitions: give those that were saved. */
export async function readDump(adapter: Adapter, definitions: readonly SavedDefinition[]): Promise<Dump> {
  checkArgument('readDump()', 'the adapter', adapter, having<Adapter>('an adapter', ['listRuns', 'readRun']))
  const runs: RunDump[] = []
  let before: string | undefined
  for (;;) {
    const page = await adapter.listRuns({ limit: PAGE, before })
    for (const { runId } of page) {
      const read = await adapter.readRun(runId)
      if (read !== null) runs.push(read)
    }
    if (page.length < PAGE) return { definitions, runs }
    before = page.at(-1)!.runId
  }
}
