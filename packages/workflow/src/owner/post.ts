import { letterOf } from './letters.ts'
import type { Worker } from './worker.ts'

/** Mail for the runs of a worker. */
export class Post {
  readonly #owner: Worker
  #isReading = false
  #next: 'hinted' | 'all' | null = null

  constructor(owner: Worker) {
    this.#owner = owner
  }

  /** `hinted`: what was sent while the worker owned its run. One reading at a time; another one follows. */
  async read(how: 'hinted' | 'all'): Promise<void> {
    if (this.#isReading) {
      this.#next = this.#next === 'all' ? 'all' : how
      return
    }
    this.#isReading = true
    try {
      await this.#read(how)
    } finally {
      this.#isReading = false
      const next = this.#next
      this.#next = null
      if (next !== null) void this.read(next).catch(() => {})
    }
  }

  async #read(how: 'hinted' | 'all'): Promise<void> {
    const { commits, identity, owned: runs, store } = this.#owner
    for (const mail of await store.mailOf(identity.worker, how)) {
      const owned = runs.get(mail.run)
      if (owned === undefined) continue
      owned.seen ??= new Set()
      if (owned.seen.has(mail.sequence)) continue
      owned.seen.add(mail.sequence)
      owned.letters.push(letterOf(mail))
      commits.mark(owned)
    }
  }
}
