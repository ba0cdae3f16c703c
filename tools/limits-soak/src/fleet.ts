import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import type { WorkerSetup } from './worker.ts'

const PROGRAM = fileURLToPath(new URL('./worker.js', import.meta.url))

interface Seat {
  generation: number
  child: ChildProcess
  name: string
}

/** Worker processes, one for each seat. Whoever is killed is replaced. */
export class Fleet {
  readonly #seats: Seat[] = []
  readonly #database: pg.Pool
  readonly #url: string
  readonly #leaseMs: number
  readonly counts = { killed: 0, frozen: 0 }

  constructor({ database, url, leaseMs }: { database: pg.Pool; url: string; leaseMs: number }) {
    this.#database = database
    this.#url = url
    this.#leaseMs = leaseMs
  }

  async open(workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, (_, seat) => this.#seat(seat, 1)))
  }

  /** Kills a worker's process, notes when it was gone by the database's clock, and starts another. */
  async kill(seat: number): Promise<void> {
    const { child, name, generation } = this.#seats[seat]!
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    await this.#database.query(`insert into soak_processes values ($1, clock_timestamp())`, [name])
    this.counts.killed += 1
    await this.#seat(seat, generation + 1)
  }

  /** Stops a worker's process for this long, perhaps for longer than its lease. */
  async freeze(seat: number, ms: number): Promise<void> {
    const { child } = this.#seats[seat]!
    child.kill('SIGSTOP')
    await pause(ms)
    child.kill('SIGCONT')
    this.counts.frozen += 1
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#seats.map(async ({ child }) => {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      }),
    )
  }

  async #seat(seat: number, generation: number): Promise<void> {
    const name = `worker-${seat + 1}.${generation}`
    const setup: WorkerSetup = { url: this.#url, name, leaseMs: this.#leaseMs }
    const child = fork(PROGRAM, { env: { ...process.env, SOAK_WORKER: JSON.stringify(setup) } })
    this.#seats[seat] = { generation, child, name }
    const died = once(child, 'exit').then(() => {
      throw new Error(`The worker ${name} ended before it was ready.`)
    })
    await Promise.race([once(child, 'message'), died])
    died.catch(() => {})
  }
}
