import { fileURLToPath } from 'node:url'
import {
  type ChildSetup,
  type Counts,
  DATABASE_HOST,
  type Message,
  type TriggerSetup,
  type WorkerSetup,
} from '../child/protocol.ts'
import { TcpProxy } from '../network/proxy.ts'
import { settlesWithin } from '../pause.ts'
import { Child } from './child.ts'
import type { Guard } from './guard.ts'
import { Seat } from './seat.ts'

/** A leaving worker gives its handlers two seconds; its statements have their own limits. */
export const LEAVE_MS = 15_000

export interface FleetParts {
  readonly guard: Guard
  readonly serverPort: number
  readonly database: string
  readonly worldUrl: string
  readonly leaseMs: number
  readonly tickMs: number
  readonly startsPerSecond: number
  readonly nextSeed: () => number
  readonly onMessage: (seat: Seat, message: Message) => void
  readonly onDeath: (sentence: string) => void
}

/** All processes of the load: workers, and the trigger that starts their runs, each behind its own proxy. */
export class Fleet {
  readonly workers: readonly Seat[]
  readonly trigger: Seat
  /** Every process so far: the faults that hit it may explain what it did. */
  readonly children: Child[] = []
  readonly #parts: FleetParts
  readonly #visitors = new Set<Seat>()
  #visits = 0
  #isOver = false

  static async open(workers: number, parts: FleetParts): Promise<Fleet> {
    const seats: Seat[] = []
    for (let number = 1; number <= workers; number += 1) {
      // One worker uses an application's Pool.
      const pool = number === workers ? 'application' : 'own'
      seats.push(new Seat(`worker${number}`, 'worker', pool, await TcpProxy.open(parts.serverPort)))
    }
    const trigger = new Seat('trigger', 'trigger', 'application', await TcpProxy.open(parts.serverPort))
    return new Fleet(seats, trigger, parts)
  }

  private constructor(workers: readonly Seat[], trigger: Seat, parts: FleetParts) {
    this.workers = workers
    this.trigger = trigger
    this.#parts = parts
    for (const seat of this.seats) this.seat(seat)
  }

  get seats(): readonly Seat[] {
    return [...this.workers, this.trigger]
  }

  get settled(): number {
    return this.sum('settled')
  }

  /** The sum over all workers so far. */
  sum(count: keyof Counts): number {
    return this.workers.reduce((total, { counts }) => total + counts[count], 0)
  }

  /** Starts a process at an empty seat. */
  seat(seat: Seat): void {
    if (this.#isOver || (seat.child !== undefined && !seat.child.hasEnded)) return
    const program = fileURLToPath(new URL(`../child/${seat.role}.js`, import.meta.url))
    const { guard, onDeath, onMessage } = this.#parts
    const setup = seat.role === 'worker' ? this.#workerSetup(seat) : this.#triggerSetup(seat)
    const child = new Child({
      program,
      setup,
      guard,
      onMessage: (message) => {
        seat.hear(message)
        onMessage(seat, message)
      },
      onDeath: (sentence) => {
        if (this.#isOver) return
        onDeath(sentence)
        this.seat(seat)
      },
    })
    this.children.push(child)
    seat.child = child
  }

  /** A fresh process beside the others, which makes a burst of starts and nothing else. */
  async visit(): Promise<Seat> {
    this.#visits += 1
    const proxy = await TcpProxy.open(this.#parts.serverPort)
    const seat = new Seat(`visitor${this.#visits}`, 'trigger', 'application', proxy)
    this.#visitors.add(seat)
    this.seat(seat)
    return seat
  }

  async endVisit(seat: Seat): Promise<void> {
    this.#visitors.delete(seat)
    await seat.child?.kill()
    await seat.proxy.close()
  }

  /** Tells the process at a seat to leave, and kills it if it does not leave in time. Resolves to whether it left. */
  async vacate(seat: Seat): Promise<boolean> {
    const { child } = seat
    if (child === undefined) return true
    child.leave()
    if (await settlesWithin(child.ended, LEAVE_MS)) return true
    await child.kill()
    return false
  }

  /** Tells every process to leave. Resolves to the names of those that did not leave in time. */
  async leave(): Promise<readonly string[]> {
    const leaving = this.seats.map(async (seat) => ((await this.vacate(seat)) ? [] : [seat.child!.name]))
    return (await Promise.all(leaving)).flat()
  }

  /** Ends everything, whatever state it is in. */
  async close(): Promise<void> {
    this.#isOver = true
    await Promise.all([...this.#visitors].map((seat) => this.endVisit(seat)))
    await Promise.all(this.seats.map(({ child }) => (child?.hasEnded ? undefined : child?.kill())))
    await Promise.all(this.seats.map(({ proxy }) => proxy.close()))
  }

  #workerSetup(seat: Seat): WorkerSetup {
    return { ...this.#setup(seat), version: seat.version, pool: seat.pool }
  }

  #triggerSetup(seat: Seat): TriggerSetup {
    const isVisitor = seat !== this.trigger
    return {
      ...this.#setup(seat),
      startsPerSecond: isVisitor ? 0 : this.#parts.startsPerSecond,
      burst: isVisitor,
    }
  }

  #setup(seat: Seat): ChildSetup {
    const { database, worldUrl, leaseMs, tickMs, nextSeed } = this.#parts
    const name = seat.nextName()
    const url = `postgres://postgres@${DATABASE_HOST}:${seat.proxy.port}/${database}?application_name=${name}`
    return { name, url, worldUrl, seed: nextSeed(), leaseMs, tickMs }
  }
}
