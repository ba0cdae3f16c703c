import type { Engine } from '@belay/workflow'
import pLimit from 'p-limit'

const KEPT_MAX = 5_000
/** Of runs that were not read before. */
const READ_MAX = 60
const AT_ONCE = 4

/** The keys of runs that an answer names by their ids. No key changes: each is read once. */
export class RunKeys {
  readonly #kept = new Map<string, string | undefined>()

  async of(engine: Engine, runIds: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const ids = [...new Set(runIds)]
    const limit = pLimit(AT_ONCE)
    const read = async (id: string) => {
      const [run] = await engine.runs.list({ idPrefix: id, limit: 1 })
      this.#kept.set(id, run?.key)
    }
    const unread = ids.filter((id) => !this.#kept.has(id)).slice(0, READ_MAX)
    await Promise.all(unread.map((id) => limit(() => read(id))))
    const found = ids.flatMap((id) => {
      const key = this.#kept.get(id)
      return key === undefined ? [] : [[id, key] as const]
    })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break
      this.#kept.delete(oldest)
    }
    return Object.fromEntries(found)
  }
}
