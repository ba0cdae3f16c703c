import { createEngine, type Engine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { order } from './order.ts'

interface Belay {
  readonly engine: Engine
  /** Fires when the process stops: streams end then. */
  readonly stopping: AbortController
}

/** Next.js loads this module several times into one process: for instrumentation.ts, for route handlers, and anew after each change in development. */
const kept = globalThis as { belay?: Belay }

/** The engine of this process, made at its first use: `next build` loads this module too, and has no database. */
export function belay(): Belay {
  kept.belay ??= {
    engine: createEngine({
      adapter: postgres(process.env['DATABASE_URL'], { autoMigrate: true }),
      workflows: [order],
      dev: process.env.NODE_ENV === 'development',
    }),
    stopping: new AbortController(),
  }
  return kept.belay
}
