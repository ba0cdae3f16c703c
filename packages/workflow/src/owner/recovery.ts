import { pause } from '../engine/base/runtime.ts'
import type { Doubted, Worker } from './worker.ts'

const RETRY_MS = 100

/** What is done when it is not known what the rows say: whatever was lost, it ends in a load. One recovery at a time. */
export class Recovery {
  readonly #owner: Worker
  #under: Promise<void> | null = null

  constructor(owner: Worker) {
    this.#owner = owner
  }

  get isOver(): boolean {
    return this.#under === null
  }

  get over(): Promise<void> | null {
    return this.#under
  }

  /**
   * Loads runs again, and applies again what was to be applied. Handlers stay attached. `isLost`: the answer to a statement was lost, so that it is shut
   * out first if it is still under way.
   */
  async doubt(doubted: readonly Doubted[], { isLost }: { readonly isLost: boolean }): Promise<void> {
    while (this.#under !== null) await this.#under
    return this.#run(async () => {
      if (isLost && !(await this.#bump())) return this.#register()
      const ids = doubted.filter(({ owned }) => !owned.isGone).map(({ owned }) => owned.id)
      if (ids.length === 0) return
      const { identity, store, intake } = this.#owner
      const found = new Map((await store.load(identity.worker, { only: ids })).map((run) => [run.id, run]))
      for (const { owned, ...again } of doubted) {
        if (owned.isGone) continue
        const run = found.get(owned.id)
        // It has ended or was released, so that commit was there; or it is somebody else’s.
        if (run === undefined) this.#owner.forget(owned, 'lost')
        else intake.rebuild(owned, run, again)
      }
    })
  }

  /**
   * Runs that are this worker’s by the rows, and not in its memory. No other look goes on meanwhile: of two, the later answer might know a run that has
   * ended since.
   */
  async findLost(): Promise<void> {
    while (this.#under !== null) await this.#under
    return this.#run(async () => {
      if (!(await this.#bump())) return this.#register()
      const { identity, store, intake, owned } = this.#owner
      await intake.adopt(await store.load(identity.worker, { except: [...owned.keys()] }))
    })
  }

  /** It was declared dead: nothing is its own any more. */
  async reborn(): Promise<void> {
    while (this.#under !== null) await this.#under
    return this.#run(() => this.#register())
  }

  #run(act: () => Promise<void>): Promise<void> {
    this.#under = this.#insist(act).finally(() => {
      this.#under = null
      this.#owner.wake()
    })
    return this.#under
  }

  async #insist(act: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await act()
      } catch (error) {
        if (this.#owner.isClosed) return
        this.#owner.log.warn(
          'A worker could not find out what the store knows of its runs. It tries again.',
          { error },
        )
        await pause(this.#owner.clock, RETRY_MS)
      }
    }
  }

  /** Whether the worker is alive. */
  async #bump(): Promise<boolean> {
    const { identity, store } = this.#owner
    const epoch = await store.bump(identity.worker)
    if (epoch !== null) this.#owner.identity = { ...identity, epoch }
    return epoch !== null
  }

  async #register(): Promise<void> {
    for (const owned of [...this.#owner.owned.values()]) this.#owner.forget(owned, 'lost')
    await this.#owner.lease.register()
  }
}
