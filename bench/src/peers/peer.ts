/** A system under comparison: how it is set up, how a run is started and what counts as done. The measuring is the same code for all. */
export interface Peer {
  /** 3: a run is a chain of three durable steps. 1: it is a single job of a plain queue, the ceiling of what queues reach. */
  readonly stepsPerRun: 1 | 3
  /** What was set apart from the defaults, for the report. */
  readonly settings: string
  /** Makes tables and connections in an empty database; starts no worker. */
  prepare(setup: PeerSetup): Promise<void>
  /** Starts the one worker of this process. */
  startWorker(): Promise<void>
  /** Starts one run; resolves once it is stored. */
  startRun(): Promise<void>
  /** Starts many at once, where the system offers a bulk call. */
  startRuns?(count: number): Promise<void>
  /** SQL that answers `count`, the number of runs (or steps of runs) that aren't completed in the database. */
  readonly countOpen: string
  close(): Promise<void>
}

export interface PeerSetup {
  readonly url: string
  /** To be called by the handler of a run's last step. */
  lastStepRan(): void
}

/** Each module of a peer exports this. */
export type CreatePeer = () => Peer
