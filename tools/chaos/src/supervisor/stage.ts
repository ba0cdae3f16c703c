import type { PostgresServer } from '@belay/postgres-server'
import type { Engine } from '@belay/workflow'
import type pg from 'pg'
import type { Workflows } from '../load/workflows.ts'
import type { Violation } from '../oracle/violation.ts'
import type { Random } from '../random.ts'
import type { Fleet } from './fleet.ts'
import type { Guard } from './guard.ts'

/** All that faults are done to, and done with. */
export interface Stage {
  readonly server: PostgresServer
  readonly fleet: Fleet
  readonly guard: Guard
  readonly random: Random
  /** The engine's database, directly: nothing happens to these connections but what happens to the server. */
  readonly database: pg.Pool
  readonly world: pg.Pool
  /** The supervisor's own engine, which never works: for what operators do. */
  readonly engine: Engine
  readonly workflows: Workflows
  readonly leaseMs: number
  /** Faults that are upon everything now. */
  readonly troubles: Set<string>
  /** Keeps what pruning deletes, for the oracle. */
  readonly archive: Map<string, ArchivedRun>
  /** Something that must not be, seen by a fault itself. */
  readonly complain: (violation: Violation) => void
}

/** A run as it was when it was pruned. */
export type ArchivedRun = NonNullable<Awaited<ReturnType<Engine['runs']['get']>>>
