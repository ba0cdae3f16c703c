import type { Worker } from './worker.ts'

/** A worker’s identity: it lives as long as it is renewed. */
export class Lease {
  readonly #owner: Worker
  /** Until when nobody can have declared it dead, by the worker’s own clock. */
  end = 0
  /** The store’s clock less the worker’s. */
  offset = 0

  constructor(owner: Worker) {
    this.#owner = owner
  }

  /** A new identity. It owns nothing. */
  async register(): Promise<void> {
    const { clock, codes, host, leaseMs, name, newId, slots, store } = this.#owner
    const sentAt = clock.now()
    const definitions = [...codes.keys()]
    const id = newId()
    this.#owner.identity = await store.register({ id, name, host, leaseMs, slots, definitions })
    this.#owner.workerId = id
    this.end = sentAt + leaseMs
    await this.#renew()
    this.#owner.intake.expect('all')
  }

  /** Prolongs the lease, and finds out whether the store still knows what this worker owns. */
  async renew(): Promise<void> {
    const { identity, recovery } = this.#owner
    const answer = await this.#renew()
    if (identity.worker !== this.#owner.identity.worker) return
    if (answer === 'lost') {
      if (recovery.isOver) await recovery.reborn()
    } else if (answer === 'unequal') {
      this.#owner.log.warn(
        'The store does not know what this worker owns; it may have lost commits. All is loaded again.',
      )
      const doubted = [...this.#owner.owned.values()].filter(({ isBusy }) => !isBusy)
      for (const owned of doubted) owned.isBusy = true
      await recovery.doubt(
        doubted.map((owned) => ({ owned, events: [], answers: [], hasLostCommits: true })),
        { isLost: true },
      )
      await recovery.findLost()
    }
  }

  async #renew(): Promise<'lost' | 'unequal' | 'renewed'> {
    const owner = this.#owner
    const { clock, handlers, identity, leaseMs, store } = owner
    const before = owner.moves
    const sentAt = clock.now()
    const answer = await store.renew(identity.worker, { leaseMs, busy: handlers.busy })
    if (answer === 'lost' || identity.worker !== owner.identity.worker) return 'lost'
    this.end = sentAt + leaseMs
    this.offset = answer.now - (sentAt + clock.now()) / 2
    handlers.goOn()
    if (!owner.isQuiet || before !== owner.moves) return 'renewed'
    let fences = 0
    for (const { fence } of owner.owned.values()) fences += fence
    return answer.runs === owner.owned.size && answer.fences === fences ? 'renewed' : 'unequal'
  }
}
