import pg from 'pg'
import type { Sighting } from '../load/features.ts'

/** A handler's call, as far as the world needs to know it. */
export interface CallOf {
  readonly runId: string
  readonly step: string
  readonly idempotencyKey: string
  readonly attempt: number
}

/** What an operator has repaired: the undo of the run's first step, what made it fail, or its step after the pivot. */
export type Repair = 'undo' | 'run' | 'step'

/** The world as handlers reach it: directly, over connections without faults. */
export class World {
  readonly pool: pg.Pool
  readonly #worker: string

  constructor(url: string, worker: string) {
    this.#worker = worker
    this.pool = new pg.Pool({ connectionString: url, max: 3, application_name: `outside-${worker}` })
    this.pool.on('error', () => {})
  }

  /** Records that a handler has begun. Resolves to the call's number. */
  async begin({ runId, step, idempotencyKey, attempt }: CallOf, undo: boolean): Promise<string> {
    // The machine's clock, which the world also uses. Time between this moment and the insert must not count.
    const now = new Date()
    const { rows } = await this.pool.query<{ id: string }>(
      `insert into calls (key, run_id, step, undo, attempt, worker, began_at) values ($1, $2, $3, $4, $5, $6, $7)
       returning id`,
      [idempotencyKey, runId, step, undo, attempt, this.#worker, now],
    )
    return rows[0]!.id
  }

  /** Records when a handler ended. */
  async end(callId: string, at: Date): Promise<void> {
    await this.pool.query('update calls set ended_at = $2 where id = $1', [callId, at])
  }

  /** Makes the effect, once per key, as a payment provider would. */
  async effect({ runId, step, idempotencyKey }: CallOf, undo: boolean, callId: string): Promise<void> {
    await this.pool.query(
      `insert into effects (key, run_id, step, undo, call_id) values ($1, $2, $3, $4, $5)
       on conflict (key) do update set times = effects.times + 1`,
      [idempotencyKey, runId, step, undo, callId],
    )
  }

  async isRepaired(runId: string, what: Repair): Promise<boolean> {
    const { rowCount } = await this.pool.query('select 1 from repairs where run_id = $1 and what = $2', [
      runId,
      what,
    ])
    return rowCount === 1
  }

  /** Notes something that leaves no effect. */
  async see(what: Sighting, runId: string): Promise<void> {
    await this.pool.query('insert into sightings (what, run_id) values ($1, $2)', [what, runId])
  }
}
