import type { PostgresServer } from '@belay/postgres-server'
import type { Engine } from '@belay/workflow'
import type pg from 'pg'
import type { Workflows } from '../load/workflows.ts'
import type { Violation } from '../oracle/violation.ts'
import type { Random } from '../random.ts'
import type { Fleet } from './fleet.ts'
import type { Guard } from './guard.ts'

/** All that faults affect and use. */
export interface Stage {
  readonly server: PostgresServer
  readonly fleet: Fleet
  readonly guard: Guard
  readonly random: Random
  /** The engine's database, directly: only faults of the server affect these connections. */
  readonly database: pg.Pool
  readonly world: pg.Pool
  /** The supervisor's own engine, which never works: for operators' actions. */
  readonly engine: Engine
  readonly workflows: Workflows
  readonly leaseMs: number
  /** The current faults that affect everything. */
  readonly troubles: Set<string>
  /** Keeps pruned runs for the oracle. */
  readonly archive: Map<string, ArchivedRun>
  /** Reports a violation that a fault itself has seen. */
  readonly complain: (violation: Violation) => void
}

/** A run as it was when it was pruned. */
export type ArchivedRun = NonNullable<Awaited<ReturnType<Engine['runs']['get']>>>
