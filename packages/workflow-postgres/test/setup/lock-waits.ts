import type pg from 'pg'

const WAITS = `
select extract(epoch from clock_timestamp() - l.waitstart)::float8 * 1000 as ms, c.relname as relation
from pg_locks l join pg_class c on c.oid = l.relation
where not l.granted and l.database = (select oid from pg_database where datname = current_database())`

interface Longest {
  readonly ms: number
  /** The relations that somebody was seen waiting for. */
  readonly waited: readonly string[]
}

/** Looks again and again who waits for the lock of a table of a database, and remembers the longest wait it has seen. */
export class LockWaits {
  readonly #pool: pg.Pool
  readonly #waited = new Set<string>()
  readonly #looking: Promise<void>
  #longestMs = 0
  #isOver = false
  #onLook = () => {}

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.#looking = this.#look()
  }

  /** Resolves once somebody was seen waiting for that relation. */
  async seen(relation: string): Promise<void> {
    while (!this.#waited.has(relation)) {
      await new Promise<void>((resolve) => {
        this.#onLook = resolve
      })
    }
  }

  async stop(): Promise<Longest> {
    this.#isOver = true
    await this.#looking
    return { ms: Math.round(this.#longestMs), waited: [...this.#waited] }
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      const { rows } = await this.#pool.query<{ ms: number | null; relation: string }>(WAITS)
      for (const { ms, relation } of rows) {
        this.#longestMs = Math.max(this.#longestMs, ms ?? 0)
        this.#waited.add(relation)
      }
      this.#onLook()
    }
  }
}
