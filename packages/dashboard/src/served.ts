import type { Engine, RunSummary, WorkflowStep } from '@belay/workflow'
import type { Context, Hono } from 'hono'
import type { Capability } from './capability.ts'
import type { Settings, Viewer } from './options.ts'
import { badRequest, notFound, RequestError } from './problem.ts'
import { checkedQuery } from './query.ts'
import { Shared } from './shared.ts'
import { LastHour } from './view/last-hour.ts'
import { RunKeys } from './view/run-keys.ts'
import { type Texts, textsFor } from './view/texts.ts'

/** The application: each request carries its viewer. */
export type App = Hono<{ Bindings: Viewer }>
export type Call = Context<{ Bindings: Viewer }>

const GRAPHS_MAX = 200

/** What routes read from. */
export class Served {
  readonly settings: Settings
  readonly shared = new Shared()
  readonly keys = new RunKeys()
  readonly lastHour = new LastHour()
  readonly #graphs = new Map<string, readonly WorkflowStep[]>()

  constructor(settings: Settings) {
    this.settings = settings
  }

  get engine(): Engine {
    return this.settings.engine
  }

  /** Reads once a second, or as seldom as is said, for all who may see the same. `key` names the route and its query. */
  read<Answer>(
    { env }: Call,
    key: string,
    read: (texts: Texts) => Promise<Answer>,
    freshMs?: number,
  ): Promise<Answer> {
    const isShown = env.can.has('payloads.read')
    const reading = () => read(textsFor(isShown, this.settings.redact))
    return this.shared.read(`${isShown} ${key}`, reading, freshMs)
  }

  /** The steps of a stored version, which never change. */
  async graph(workflow: string, version: number): Promise<readonly WorkflowStep[]> {
    const key = `${version} ${workflow}`
    const known = this.#graphs.get(key)
    if (known !== undefined) return known
    const { steps } = await this.engine.workflows.get(workflow, version)
    this.#graphs.set(key, steps)
    for (const oldest of this.#graphs.keys()) {
      if (this.#graphs.size <= GRAPHS_MAX) break
      this.#graphs.delete(oldest)
    }
    return steps
  }
}

/** Throws `RequestError` with status 403. */
export function assertMay({ env }: Call, capability: Capability): void {
  if (env.can.has(capability)) return
  throw new RequestError(403, 'forbidden', `You lack ${capability}. Ask whoever runs this dashboard for it.`)
}

const TEXT_MAX = 600

/** The query by name. Throws `RequestError` for a name that the route does not take: an ignored filter would show more than was asked for. */
export function queryOf<Name extends string>(
  { req }: Call,
  names: readonly Name[],
): Readonly<Partial<Record<Name, readonly string[]>>> {
  return checkedQuery(req.queries(), names)
}

export const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const PREFIX = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/i
const LISTED = 8

/** The id in an address. Throws `RequestError` with status 404 for what is none. */
export function idIn({ req }: Call): string {
  const id = req.param('id') ?? ''
  if (!ID.test(id)) throw notFound('That is no id of a run.')
  return id.toLowerCase()
}

/** The run that a name means: an id, its first 8 digits or more, `workflow/key`, or a key. Throws `RequestError`: 404 for none, 409 for several. */
export async function runNamed(engine: Engine, name: string): Promise<RunSummary> {
  if (name.length > TEXT_MAX) throw badRequest(`A run's name has up to ${TEXT_MAX} characters.`)
  const [found, ...others] = await candidates(engine, name)
  if (found === undefined) throw notFound('No run has this id, key or name.')
  if (others.length === 0) return found
  const count = others.length >= LISTED ? `More than ${LISTED}` : String(others.length + 1)
  const workflows = [...new Set([found, ...others].map(({ workflow }) => workflow))].slice(0, LISTED)
  const message = `${count} runs have this name, of ${workflows.join(', ')}. Give the whole id, or workflow/key.`
  throw new RequestError(409, 'bad_request', message)
}

async function candidates({ runs }: Engine, name: string): Promise<readonly RunSummary[]> {
  if (PREFIX.test(name)) {
    const found = await runs.list({ idPrefix: name, limit: LISTED + 1 })
    if (found.length > 0 || ID.test(name)) return found
  }
  const slash = name.indexOf('/')
  if (slash > 0 && slash < name.length - 1) {
    const named = await listed(runs, { workflow: name.slice(0, slash), key: name.slice(slash + 1) })
    if (named.length > 0) return named
  }
  return listed(runs, { key: name })
}

/** What can be no name or key names no run. */
async function listed(
  runs: Engine['runs'],
  named: { readonly workflow?: string; readonly key: string },
): Promise<readonly RunSummary[]> {
  try {
    return await runs.list({ ...named, limit: LISTED + 1 })
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'invalid_option') return []
    throw error
  }
}
