/** What is measured: the names, units and labels of both exporters, the Grafana dashboard, the alerts and the docs come from this table. */
export interface Instrument {
  /** Only grows. `histogram`: one value for each event. `gauge`: read when metrics are collected. */
  readonly kind: 'counter' | 'histogram' | 'gauge'
  /** By the UCUM, as OpenTelemetry wants it: `s`, or what is counted in braces. */
  readonly unit: string
  readonly labels: readonly Label[]
  /** One sentence without a full stop. */
  readonly help: string
}

export type Label = 'workflow' | 'version' | 'step' | 'direction' | 'outcome' | 'status' | 'call' | 'limit'

/**
 * `outcome` of an attempt: `completed`, `retrying`, `failed`, `waiting`, `skipped`, `released`, `discarded` or `lost`. `direction`: `forward` or `undo`.
 * `step` has no key of an item: all items of a map count together.
 */
export const INSTRUMENTS = {
  'belay.runs.started': {
    kind: 'counter',
    unit: '{run}',
    labels: ['workflow', 'version'],
    help: 'Runs that this process started, except in a transaction of the caller',
  },
  'belay.runs.ended': {
    kind: 'counter',
    unit: '{run}',
    labels: ['workflow', 'version', 'status'],
    help: 'Runs whose end this process recorded, by exact status: those that failed are failed, or compensated once they are undone',
  },
  'belay.run.duration': {
    kind: 'histogram',
    unit: 's',
    labels: ['workflow', 'status'],
    help: 'Time from the creation of a run, or its start time if later, to its end, waits included',
  },
  'belay.attempts.ended': {
    kind: 'counter',
    unit: '{attempt}',
    labels: ['workflow', 'version', 'step', 'direction', 'outcome'],
    help: 'Attempts whose outcome was recorded, and attempts that lost their worker',
  },
  'belay.attempt.duration': {
    kind: 'histogram',
    unit: 's',
    labels: ['workflow', 'step', 'direction'],
    help: 'Time from the begin of an attempt until its outcome was recorded',
  },
  'belay.queue.wait': {
    kind: 'histogram',
    unit: 's',
    labels: ['workflow', 'step', 'direction'],
    help: 'Time for which a step was due before a worker claimed it; 0 if its worker got it with the outcome before it',
  },
  'belay.queue.ready': {
    kind: 'gauge',
    unit: '{step}',
    labels: [],
    help: 'Steps and undos that a worker could claim now, counted up to 1,000',
  },
  'belay.queue.oldest.age': {
    kind: 'gauge',
    unit: 's',
    labels: [],
    help: 'For how long the oldest of these steps has been due; 0 for none',
  },
  'belay.runs.live': {
    kind: 'gauge',
    unit: '{run}',
    labels: ['status'],
    help: 'Runs that have not ended, each status counted up to 1,000; of these, compensation_failed and parked have failed',
  },
  'belay.undos.parked': {
    kind: 'gauge',
    unit: '{run}',
    labels: [],
    help: 'Runs whose undo failed for good: they wait for an operator',
  },
  'belay.workers.live': {
    kind: 'gauge',
    unit: '{worker}',
    labels: [],
    help: 'Workers of all processes that hold a lease',
  },
  'belay.workers.lost': {
    kind: 'counter',
    unit: '{worker}',
    labels: [],
    help: 'Workers that this process declared dead, because their lease had expired',
  },
  'belay.worker.slots': {
    kind: 'gauge',
    unit: '{handler}',
    labels: [],
    help: 'The most handlers that this worker runs at once',
  },
  'belay.worker.busy': {
    kind: 'gauge',
    unit: '{handler}',
    labels: [],
    help: 'Handlers that run in these slots',
  },
  'belay.worker.undos.busy': {
    kind: 'gauge',
    unit: '{handler}',
    labels: [],
    help: 'Undos that run in slots of their own',
  },
  'belay.limit.waiting': {
    kind: 'gauge',
    unit: '{step}',
    labels: ['limit'],
    help: 'Steps that wait for a slot or a turn of a limit, of all its keys',
  },
  'belay.schedules.late': {
    kind: 'gauge',
    unit: '{schedule}',
    labels: [],
    help: 'Active schedules that should have fired more than a minute ago',
  },
  'belay.settle.batch': {
    kind: 'gauge',
    unit: '{attempt}',
    labels: [],
    help: 'Outcomes in the last call that recorded some',
  },
  'belay.store.latency': {
    kind: 'gauge',
    unit: 's',
    labels: ['call'],
    help: 'How long the last answered claim and the last recording of outcomes took',
  },
  'belay.store.up': {
    kind: 'gauge',
    unit: '{store}',
    labels: [],
    help: '1 if the store answered when these metrics were collected, else 0',
  },
  'belay.store.outages': {
    kind: 'counter',
    unit: '{outage}',
    labels: [],
    help: 'How often the store stopped answering this process',
  },
  'nodejs.eventloop.delay.p99': {
    kind: 'gauge',
    unit: 's',
    labels: [],
    help: 'The 99th percentile of the event loop delay since the last collection',
  },
} as const satisfies Readonly<Record<string, Instrument>>

export type InstrumentName = keyof typeof INSTRUMENTS
