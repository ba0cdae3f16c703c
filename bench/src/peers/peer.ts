/** A system to compare: how to set it up, how to start a run, and what counts as done. The same code measures all systems. */
export interface Peer {
  /** 3: a run is a chain of three durable steps. 1: a run is a single job of a plain queue, the upper limit for queues. */
  readonly stepsPerRun: 1 | 3
  /** The settings that differ from the defaults, for the report. */
  readonly settings: string
  /** Creates tables and connections in an empty database; starts no worker. */
  prepare(setup: PeerSetup): Promise<void>
  /** Starts the one worker of this process. */
  startWorker(): Promise<void>
  /** Starts one run; resolves once it is stored. */
  startRun(): Promise<void>
  /** Starts many runs at once, if the system has a bulk call. */
  startRuns?(count: number): Promise<void>
  /** SQL that returns `count`, the number of runs (or steps of runs) that are not completed in the database. */
  readonly countOpen: string
  close(): Promise<void>
}

export interface PeerSetup {
  readonly url: string
  /** The handler of a run's last step must call it. */
  lastStepRan(): void
}

/** Each module of a peer exports this. */
export type CreatePeer = () => Peer
