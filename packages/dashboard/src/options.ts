import { BelayError, type Engine, type WorkflowDefinition } from '@belay/workflow'
import { CAPABILITIES } from './capabilities.ts'
import type { Capability } from './capability.ts'
import type { NamedView } from './named-view.ts'
import { matchingText } from './runs-query.ts'

export interface DashboardOptions {
  /** What `createEngine()` returned, a worker or not. It must not be closed before the dashboard is. */
  readonly engine: Engine
  /** Where browsers find the dashboard, like `/belay`. Default `/`. A proxy or framework in front may strip it from the requests. */
  readonly basePath?: string | undefined
  /** Who sends this request, and what they may do; null if nobody may see anything. Called for each request, before anything else. */
  readonly authorize: (request: Request) => Authorized | null | Promise<Authorized | null>
  /** Replaces a payload, or an error, by what viewers with `payloads.read` may see of it. Default: shows everything to them. */
  readonly redact?: ((payload: unknown, place: Place) => unknown) | undefined
  /** The name of this store, like `shop · prod`. Default `Belay`. */
  readonly title?: string | undefined
  /** Definitions to which runs may be moved. Default: none, and no run is moved here. */
  readonly workflows?: readonly WorkflowDefinition[] | undefined
  /** Filters of Runs that a team looks at often, like `{ name: 'Payments', query: 'workflow=charge&status=failed' }`. Up to 20. Default: none. */
  readonly views?: readonly NamedView[] | undefined
}

export interface Authorized {
  /** For the history of the runs that they change: a name or an address, 1 to 200 characters. */
  readonly by: string
  /** Beyond looking at runs without their payloads. */
  readonly can: readonly Capability[] | 'all'
}

/** What a payload is, and whose. */
export interface Place {
  readonly what: 'input' | 'output' | 'error' | 'value'
  /** Of an output or an error. */
  readonly step?: string | undefined
  /** Of a value that a step published. */
  readonly key?: string | undefined
}

/** `basePath` without a slash at its end: empty for `/`. */
export interface Settings extends DashboardOptions {
  readonly basePath: string
  readonly title: string
}

const NAMES = ['engine', 'basePath', 'authorize', 'redact', 'title', 'workflows', 'views']
const TITLE_MAX = 100
const VIEWS_MAX = 20
const VIEW_NAME_MAX = 60
const BY_MAX = 200

/** Throws `invalid_option`. */
export function checkOptions(given: DashboardOptions): Settings {
  if (typeof given !== 'object' || given === null)
    throw wrong('takes an object', 'Give { engine, authorize }.')
  const other = Object.keys(given).find((name) => !NAMES.includes(name))
  if (other !== undefined) {
    throw wrong(`has no option ${JSON.stringify(other.slice(0, 60))}`, `It has ${NAMES.join(', ')}.`)
  }
  const { engine, authorize, redact, basePath = '/', title = 'Belay', workflows, views } = given
  if (typeof engine?.explain !== 'function' || typeof engine.runs?.list !== 'function') {
    throw wrong('engine is no engine', 'Give what createEngine() returned.')
  }
  if (typeof authorize !== 'function') {
    const remedy = 'Give a function that returns { by, can } for a request, or null to refuse it.'
    throw wrong('authorize is missing: without it everybody could act on runs', remedy)
  }
  if (redact !== undefined && typeof redact !== 'function') {
    throw wrong('redact is no function', 'Give (payload, place) => what may be shown.')
  }
  if (
    typeof basePath !== 'string' ||
    !/^(\/[\w.~-]+)*\/?$/.test(basePath) ||
    /\/\.\.?(\/|$)/.test(basePath)
  ) {
    throw wrong('basePath is no path', "Give one like '/belay': letters, digits and -._~ between slashes.")
  }
  if (typeof title !== 'string' || title.trim() === '' || title.length > TITLE_MAX) {
    throw wrong('title is no title', `Give a text of 1 to ${TITLE_MAX} characters.`)
  }
  const isDefinition = (one: unknown) => typeof (Object(one) as { version?: unknown }).version === 'number'
  if (workflows !== undefined && !(Array.isArray(workflows) && workflows.every(isDefinition))) {
    throw wrong('workflows is no list of workflows', 'Give what define() returned.')
  }
  if (views !== undefined) checkViews(views)
  return { engine, authorize, redact, basePath: basePath.replace(/\/$/, ''), title, workflows, views }
}

function checkViews(views: readonly NamedView[]): void {
  if (!Array.isArray(views) || views.length > VIEWS_MAX) {
    throw wrong('views is no list of views', `Give up to ${VIEWS_MAX} of { name, query }.`)
  }
  for (const view of views) {
    const { name, query } = Object(view) as Partial<NamedView>
    if (typeof name !== 'string' || name.trim() === '' || name.length > VIEW_NAME_MAX) {
      throw wrong('a view of views has no name', `Give one of 1 to ${VIEW_NAME_MAX} characters.`)
    }
    if (typeof query !== 'string' || query.startsWith('?')) {
      throw wrong(
        `views: ${JSON.stringify(name)} has no query`,
        "Give one like 'workflow=charge&status=failed'.",
      )
    }
    try {
      matchingText(query)
    } catch (error) {
      throw wrong(
        `views: ${JSON.stringify(name)} has a query that Runs does not take`,
        (error as Error).message,
      )
    }
  }
}

function wrong(what: string, remedy: string): BelayError {
  return new BelayError('invalid_option', `dashboard(): ${what}.`, { remedy })
}

/** Who looks and acts. */
export interface Viewer {
  readonly by: string
  readonly can: ReadonlySet<Capability>
}

/** Null if the host refuses the request. Throws if `authorize` does, or returns something else. */
export async function viewerOf({ authorize }: Settings, request: Request): Promise<Viewer | null> {
  const found = await authorize(request)
  if (found === null) return null
  const { by, can } = found ?? {}
  if (typeof by !== 'string' || by.trim() === '' || by.length > BY_MAX) {
    throw new TypeError(`authorize() must return null, or by: who acts, in 1 to ${BY_MAX} characters.`)
  }
  if (can === 'all') return { by, can: new Set(CAPABILITIES) }
  const unknown = Array.isArray(can) ? can.find((one) => !CAPABILITIES.includes(one)) : can
  if (!Array.isArray(can) || unknown !== undefined) {
    throw new TypeError(`authorize() must return can: 'all', or some of ${CAPABILITIES.join(', ')}.`)
  }
  return { by, can: new Set(can) }
}
