import { randomUUID } from 'node:crypto'
import type { RunNews } from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Lifeline } from './lifeline.ts'

/** At most one notification of each type in this time, in milliseconds, besides the first: each briefly takes a database-wide lock. */
const COALESCE_MS = 10
/** Postgres refuses payloads of 8,000 bytes. */
const RUN_IDS_MAX = 200
/** The most runs that wait to be told of. Of more, nobody is told: who awaits them asks once a tick. */
const UNTOLD_MAX = 1_000

const NEWS = /^(awaited|ended) ([0-9a-f]+)((?: [0-9a-f-]+)+)$/i

/** Whether a notification is news about runs, and no hint of work. */
export function isNews(payload: string | undefined): boolean {
  return payload !== undefined && NEWS.test(payload)
}

/** News about runs between processes: over the channel for hints of work, as notifications like `ended 1f2e 0192…`. */
export class NewsChannel {
  readonly #lifeline: Lifeline
  readonly #notify: (payload: string) => Promise<unknown>
  /** Names this process, which need not hear its own news. */
  readonly #origin = randomUUID().slice(0, 8)
  readonly #untold: Record<RunNews['type'], Set<string>> = { awaited: new Set(), ended: new Set() }
  readonly #stops = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(lifeline: Lifeline, notify: (payload: string) => Promise<unknown>) {
    this.#lifeline = lifeline
    this.#notify = notify
  }

  listen(listener: (news: RunNews) => void): () => void {
    const forget = this.#lifeline.listen((payload) => {
      const [, type, origin, runIds] = NEWS.exec(payload ?? '') ?? []
      if (type === undefined || runIds === undefined || origin === this.#origin) return
      listener({ type: type as RunNews['type'], runIds: runIds.trim().split(' ').filter(isUuid) })
    })
    const letGo = this.#lifeline.hold()
    const stop = () => {
      this.#stops.delete(stop)
      forget()
      letGo()
    }
    this.#stops.add(stop)
    return stop
  }

  tell({ type, runIds }: RunNews): void {
    const untold = this.#untold[type]
    for (const runId of runIds) if (untold.size < UNTOLD_MAX) untold.add(runId)
    if (this.#timer === undefined) this.#send()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const stop of this.#stops) stop()
  }

  #send(): void {
    this.#timer = undefined
    if (this.#isClosed) return
    for (const type of ['ended', 'awaited'] as const) {
      const told = [...this.#untold[type]].slice(0, RUN_IDS_MAX)
      if (told.length === 0) continue
      for (const runId of told) this.#untold[type].delete(runId)
      // Best effort: who is not told asks once a tick.
      this.#notify(`${type} ${this.#origin} ${told.join(' ')}`).catch(() => {})
      this.#timer ??= setTimeout(() => this.#send(), COALESCE_MS)
    }
  }
}
