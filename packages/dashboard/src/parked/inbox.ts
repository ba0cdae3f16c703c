import type { Engine, RunSnapshot, RunWithSteps } from '@belay/workflow'
import type { Shared } from '../shared.ts'
import { storeNow } from '../store-now.ts'
import { type ParkedUndo, parkedIn, remainIn } from './parked-in.ts'

const RUNS_MAX = 1_000
const PAGE = 100
/** A run is read with all of its steps. So few at a time that the first answer comes soon and workers are not held up. */
const READ_MAX = 200
const AT_ONCE = 8
/** Items are read with their outputs. Those that are parked beyond are counted, and found once others are settled. */
const ITEMS_MAX = 5_000

export interface ParkedRun {
  readonly run: RunWithSteps
  readonly undos: readonly ParkedUndo[]
  readonly remain: number
}

export interface Looked {
  readonly readAt: number
  readonly listed: number
  readonly more: boolean
  /** Those that have been read, the newest first. */
  readonly runs: readonly ParkedRun[]
  /** Of the runs that have gone since an earlier look, the newest. */
  readonly gone: string | undefined
}

/** The parked runs of a store, with what is known of each. It knows only those of the newest look. */
export class Inbox {
  readonly #engine: Engine
  readonly #shared: Shared
  #known = new Map<string, Known>()
  #gone: string | undefined

  constructor({ engine, shared }: { readonly engine: Engine; readonly shared: Shared }) {
    this.#engine = engine
    this.#shared = shared
  }

  async look(): Promise<Looked> {
    const { listed, more } = await listParked(this.#engine)
    const known = new Map<string, Known>()
    const states = new Map(listed.map((run) => [run.id, JSON.stringify(run.steps)]))
    for (const [id, one] of this.#known) if (one.states === states.get(id)) known.set(id, one)
    this.#gone = [...this.#known.keys()].find((id) => !states.has(id)) ?? this.#gone
    this.#known = known
    const { writes } = this.#shared
    const unread = listed.filter(({ id }) => !known.has(id))
    // A retry that failed again left the same states: after a write all are read once more, as they were until then.
    const outdated = listed.filter(({ id }) => known.has(id) && known.get(id)!.writes !== writes)
    await inTurns([...unread, ...outdated].slice(0, READ_MAX), async ({ id }) => {
      const found = await readParked(this.#engine, id)
      if (found !== undefined) known.set(id, { ...found, states: states.get(id)!, writes })
    })
    return {
      readAt: listed[0]?.readAt.getTime() ?? (await storeNow(this.#engine)),
      runs: listed.flatMap((run) => (known.has(run.id) ? { run, ...known.get(run.id)! } : [])),
      ...{ listed: listed.length, more, gone: this.#gone },
    }
  }
}

interface Known extends Omit<ParkedRun, 'run'> {
  /** Of its steps, when it was read. */
  readonly states: string
  /** How many writes there had been. */
  readonly writes: number
}

async function listParked({ runs }: Engine) {
  const listed: RunWithSteps[] = []
  const filter = { status: 'compensation_failed', steps: true } as const
  while (listed.length <= RUNS_MAX) {
    const before = listed.at(-1)?.id
    const page = await runs.list({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) })
    listed.push(...page)
    if (page.length < PAGE) break
  }
  return { listed: listed.slice(0, RUNS_MAX), more: listed.length > RUNS_MAX }
}

async function readParked({ runs }: Engine, id: string): Promise<Omit<ParkedRun, 'run'> | undefined> {
  const run = await runs.get(id, { items: { limit: 0 } })
  if (run === undefined) return undefined
  const maps = Object.entries(run.maps).filter(([, { statuses }]) => statuses.compensation_failed)
  const withItems: RunSnapshot[] = []
  for (const [of] of maps) {
    const page = await runs.get(id, { items: { of, limit: ITEMS_MAX } })
    if (page !== undefined) withItems.push(page)
  }
  return { undos: parkedIn(run, withItems), remain: remainIn(run) }
}

async function inTurns<Item>(items: readonly Item[], each: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values()
  const turn = async () => {
    for (const item of rest) await each(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, turn))
}
