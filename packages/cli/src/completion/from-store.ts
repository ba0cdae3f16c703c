import type { CallProcess } from '../call.ts'
import { nameOf, runNamed } from '../runs/names.ts'
import { openStore, type Store } from '../store/store.ts'

/** Where and for which run something is completed. */
export interface Place {
  /** Values of the flags that were typed, by name. */
  readonly flags: Readonly<Record<string, string>>
  readonly run: string | undefined
  readonly process: Pick<CallProcess, 'env' | 'cwd' | 'stdout'>
}

export type Kept = 'runs' | 'steps' | 'workflows' | 'schedules' | 'limits'

/** A shell that waits for longer feels broken. */
const TIME_LIMIT_MS = 1_000
const EXIT_MS = 50
const RUNS_MAX = 50

/** Names from the store; none if it does not answer in time, or fails. */
export async function fromStore(kind: Kept, place: Place): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => {
      resolve([])
      // A connection that is never answered would hold the process, and the shell with it.
      if (place.process.stdout === process.stdout) setTimeout(() => process.exit(0), EXIT_MS).unref()
    }, TIME_LIMIT_MS)
  })
  const names = await Promise.race([read(kind, place).catch(() => []), late])
  clearTimeout(timer)
  return [...new Set(names)].filter(isPlain)
}

/** Whatever a shell would read otherwise is not offered: a key may be anybody’s text. */
function isPlain(name: string): boolean {
  return /^[\w:.@+/,-]{1,200}$/.test(name)
}

async function read(kind: Kept, { flags, run, process }: Place): Promise<readonly string[]> {
  const { url, schema, config } = flags
  const store = await openStore(
    {
      ...(url === undefined ? {} : { url }),
      ...(schema === undefined ? {} : { schema }),
      ...(config === undefined ? {} : { config }),
    },
    process,
  )
  try {
    return await NAMES[kind](store, run)
  } finally {
    await store.close().catch(() => {})
  }
}

const NAMES: Readonly<Record<Kept, (store: Store, run: string | undefined) => Promise<readonly string[]>>> = {
  async runs({ engine }) {
    return (await engine.runs.list({ limit: RUNS_MAX })).map(nameOf)
  },
  async steps(store, run) {
    if (run === undefined) return []
    const { id } = await runNamed(store, run)
    return (await store.engine.runs.get(id))?.steps.map(({ name }) => name) ?? []
  },
  async workflows({ engine }) {
    return (await engine.workflows.list()).map(({ name }) => name)
  },
  async schedules({ engine }) {
    return (await engine.schedules.list()).map(({ name }) => name)
  },
  async limits({ engine }) {
    return (await engine.limits.list()).map(({ name }) => name)
  },
}
