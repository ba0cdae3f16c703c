import type { Engine, RunSummary } from '@belay/workflow'
import pLimit from 'p-limit'
import type { Decided } from '../api/waiting.ts'
import type { Texts } from './texts.ts'

const KEPT_MAX = 2_000
/** Of runs that were not read before. The others follow with the next answers. */
const READ_MAX = 100
const AT_ONCE = 4
const FIELDS_MAX = 4
const VALUE_MAX = 60

/** What the runs that wait for a decision are about, as this viewer may see it. Neither input nor tags of a run change: each is read once. */
export class DecidedRuns {
  readonly #kept = new Map<string, Decided>()

  async of(engine: Engine, runIds: readonly string[], texts: Texts): Promise<ReadonlyMap<string, Decided>> {
    const keyOf = (id: string) => `${texts.isShown} ${id}`
    const ids = [...new Set(runIds)]
    const limit = pLimit(AT_ONCE)
    const unread = ids.filter((id) => !this.#kept.has(keyOf(id))).slice(0, READ_MAX)
    await Promise.all(
      unread.map((id) =>
        limit(async () => {
          const [run] = await engine.runs.list({ idPrefix: id, limit: 1 })
          if (run !== undefined) this.#kept.set(keyOf(id), decidedOf(run, texts))
        }),
      ),
    )
    const found = ids.flatMap((id) => {
      const known = this.#kept.get(keyOf(id))
      return known === undefined ? [] : [[id, known] as const]
    })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break
      this.#kept.delete(oldest)
    }
    return new Map(found)
  }
}

function decidedOf({ input, tags }: RunSummary, texts: Texts): Decided {
  return { tags, fields: fieldsOf(texts.input(input)) }
}

/** The first plain fields: what is nested stands in the run's payloads. */
function fieldsOf(input: unknown): Decided['fields'] {
  const plain = ['string', 'number', 'boolean']
  if (plain.includes(typeof input)) return [{ name: 'input', value: shortened(input) }]
  return Object.entries(Object(input) as Record<string, unknown>)
    .filter(([, value]) => plain.includes(typeof value))
    .slice(0, FIELDS_MAX)
    .map(([name, value]) => ({ name: shortened(name), value: shortened(value) }))
}

function shortened(value: unknown): string {
  const text = String(value)
  return text.length <= VALUE_MAX ? text : `${text.slice(0, VALUE_MAX)}…`
}
