import type { Counts, Message } from '../child/protocol.ts'
import type { Version } from '../load/workflows.ts'
import type { TcpProxy } from '../network/proxy.ts'
import type { Child } from './child.ts'

const NOTHING: Counts = { settled: 0, discarded: 0, leasesLost: 0 }

/** A place for a process in the fleet: its proxy stays when another process replaces it. */
export class Seat {
  readonly name: string
  readonly role: 'worker' | 'trigger'
  readonly pool: 'own' | 'application'
  readonly proxy: TcpProxy
  version: Version = 'v1'
  child: Child | undefined
  /** The sum over all processes that have sat here. */
  counts: Counts = NOTHING
  /** `run:step` of the handlers that were running at its last report. */
  active: ReadonlySet<string> = new Set()
  /** Runs that the newest process of a trigger has started. */
  started = 0
  /** When its process last said what it does. */
  heardAt = -Infinity
  /** Its current faults: they explain what it does meanwhile. */
  readonly troubles = new Set<string>()
  /** The counts of the earlier processes. */
  #before: Counts = NOTHING
  #generation = 0

  constructor(name: string, role: 'worker' | 'trigger', pool: 'own' | 'application', proxy: TcpProxy) {
    this.name = name
    this.role = role
    this.pool = pool
    this.proxy = proxy
  }

  /** The name of the next process here. */
  nextName(): string {
    this.#generation += 1
    this.#before = this.counts
    this.active = new Set()
    this.started = 0
    return `${this.name}.${this.#generation}`
  }

  hear(message: Message): void {
    if (message.type === 'started') this.started = message.runs
    if (message.type !== 'pulse') return
    this.heardAt = performance.now()
    this.counts = {
      settled: this.#before.settled + message.settled,
      discarded: this.#before.discarded + message.discarded,
      leasesLost: this.#before.leasesLost + message.leasesLost,
    }
    this.active = new Set(message.active)
  }
}
