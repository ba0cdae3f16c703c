import type { ItemStates, ViewRun } from '@belay/graph-view'
import type { WorkerCounts } from './api/workers.ts'
import type { Capability } from './capability.ts'
import type { NamedView } from './named-view.ts'

/**
 * What the dashboard's server answers and takes, as JSON: the one contract between server and browser. All routes stand below `<basePath>/api`. Instants are
 * epoch milliseconds of the store's clock. Reads are GET; writes are POST with `content-type: application/json` and the header `x-belay: 1`.
 *
 * | route | answer |
 * |---|---|
 * | `GET session` | {@link Session} |
 * | `GET overview` | {@link Overview}, for the navigation |
 * | `GET runs?…` | {@link RunsPage}; the query is {@link RunsQuery} |
 * | `GET runs/counts?…` | {@link RunCounts}, of the same query without page and status |
 * | `GET runs/:name?seen=…` | {@link RunPage}; `name` is an id, the first 8 digits or more of one, `workflow/key`, or a key |
 * | `GET runs/:id/items?map=…&after=…&failing=true` | {@link ItemsPage}; with `failing` only those that failed or are tried again, or whose undo is |
 * | `GET runs/:id/items/states?map=…` | {@link ItemStatesPage} |
 * | `GET runs/:id/payloads` | {@link Payloads}; needs `payloads.read` |
 * | `GET runs/:id/rows` | {@link Rows} |
 * | `POST runs/:id/actions` | {@link ActionResult}; the body is {@link ActionRequest} |
 * | `GET health` | {@link Health} |
 *
 * What acts on many stands in `api/`, a file for each screen.
 */
export interface Problem {
  /** `BelayError`'s code, or `unauthorized`, `forbidden`, `not_found`, `bad_request`, `too_large`, `store_unavailable`. */
  readonly code: string
  /** One sentence, and what to do. */
  readonly message: string
}

export interface Session {
  /** Who acts, as `authorize` said. */
  readonly by: string
  readonly can: readonly Capability[]
  /** The host's name for this store, like `shop · prod`. */
  readonly title: string
  /** What the host names for all who look. */
  readonly views?: readonly NamedView[] | undefined
  /** The statuses that each word of a filter asks for. */
  readonly statuses: Readonly<Record<string, readonly ViewRun['status'][]>>
}

/** Counts for the navigation. Each stops at its cap. */
export interface Overview {
  readonly readAt: number
  readonly parkedUndos: Capped
  readonly approvals: Capped
  readonly liveRuns: Readonly<Record<string, Capped>>
  readonly ready: Capped & { readonly oldestAgeMs: number }
  readonly workers: number
  readonly findings: number | undefined
  /** Those that are not about parked undos. */
  readonly otherFindings: number | undefined
}

export interface Capped {
  readonly count: number
  readonly capped: boolean
}

/** All optional, as text of the URL: `workflow`, `version`, `status` and `tag` may be repeated. */
export interface RunsQuery {
  readonly workflow?: readonly string[]
  readonly version?: string
  /** Words of `STATUS_WORDS`: `failed` asks for all that did not do what they were started for. */
  readonly status?: readonly string[]
  /** A whole key, or with a star at its end how keys begin. */
  readonly key?: string
  readonly tag?: readonly string[]
  readonly parent?: string
  /** The name of a limit: runs that wait for a slot of it, or for their turn. */
  readonly waits?: string
  /** Epoch milliseconds, or a span back from now like `1h`, `7d`. */
  readonly since?: string
  readonly until?: string
  /** A run's id: older or newer runs than this one. */
  readonly before?: string
  readonly after?: string
  /** 1 to 100; default 50. */
  readonly limit?: string
}

export interface RunsPage {
  readonly readAt: number
  readonly runs: readonly ListedRun[]
  /** Whether there are older ones. */
  readonly more: boolean
}

export interface ListedRun {
  readonly id: string
  readonly workflow: string
  readonly version: number
  readonly key?: string | undefined
  readonly status: ViewRun['status']
  readonly createdAt: number
  readonly finishedAt?: number | undefined
  readonly tags: readonly string[]
  readonly parentId?: string | undefined
  /** For the strip: the steps in topological order, a map as one. */
  readonly steps: readonly ListedStep[]
  /** One sentence: what it waits for, or how it ended. */
  readonly why: string
}

export interface ListedStep {
  readonly name: string
  readonly status: ViewRun['steps'][number]['status']
  readonly kind: ViewRun['steps'][number]['kind']
  readonly items?: { readonly total: number; readonly ended: number; readonly failed: number } | undefined
}

export type RunCounts = Readonly<Record<string, Capped>>

export interface RunPage {
  /** Names this reading, for `seen` of the next one. */
  readonly revision: string
  /** Given if only those steps are in `run.steps` that differ from this revision, which was `seen`. */
  readonly since?: string | undefined
  readonly run: ViewRun
  readonly tags: readonly string[]
  readonly priority: number
  readonly deadlineAt?: number | undefined
  /** The sentence of the run. */
  readonly why: string
  /** Of each open step: its sentence, until when, and what may be done. */
  readonly open: readonly OpenStep[]
  /** What may be done with the whole run. Allowed ones, and those for which this viewer lacks the capability (`denied`). */
  readonly actions: readonly OfferedHere[]
  readonly effects: {
    readonly undone: number
    readonly remain: number
    readonly kept: number
    readonly unknown: number
  }
  readonly history: readonly HistoryEntry[]
  readonly parent?: RunLink | undefined
  /** The newest 100 runs that it started. */
  readonly children: readonly RunLink[]
}

export interface OpenStep {
  readonly step: string
  readonly reason: string
  readonly sentence: string
  readonly until?: number | undefined
  readonly actions: readonly OfferedHere[]
}

/** A verb of {@link ActionRequest}, and about which step. */
export interface OfferedHere {
  readonly verb: ActionRequest['verb']
  readonly step?: string | undefined
  /** Another run that it is about: the parent of a child. */
  readonly run?: string | undefined
  readonly denied: boolean
}

export interface RunLink {
  readonly id: string
  readonly workflow: string
  readonly key?: string | undefined
  readonly status: ViewRun['status']
}

export interface HistoryEntry {
  readonly at: number
  readonly action: string
  readonly step?: string | undefined
  readonly by?: string | undefined
  readonly reason?: string | undefined
  /** What changed, in words. */
  readonly change: string
}

export interface ItemsPage {
  readonly items: readonly (ViewRun['steps'][number] & { readonly key: string; readonly index: number })[]
  readonly more: boolean
}

/** Of all items of a map, in their order: equal states that follow each other are one pair. */
export interface ItemStatesPage {
  readonly states: ItemStates
}

/** Redacted by the host, as JSON text. Undefined where there is none. */
export interface Payloads {
  readonly input?: string | undefined
  readonly steps: readonly {
    readonly step: string
    readonly output?: string | undefined
    readonly error?: string | undefined
  }[]
  readonly values: readonly { readonly key: string; readonly value: string }[]
}

export interface Rows {
  /** A query to paste into psql, with the id in it. */
  readonly queries: readonly { readonly title: string; readonly sql: string }[]
}

export interface ActionRequest {
  readonly verb:
    | 'cancel'
    | 'pause'
    | 'resume'
    | 'retry'
    | 'retryStep'
    | 'skipStep'
    | 'retryCompensation'
    | 'skipCompensation'
    | 'signal'
    | 'approve'
    | 'reject'
    | 'setPriority'
  readonly step?: string
  /** Tells what would happen, and changes nothing. */
  readonly dryRun: boolean
  /** Required unless it is a dry run or a signal, of which nothing keeps a reason. */
  readonly reason?: string
  /** For `signal`, `approve` and `skipStep`: a payload or an output, as JSON text. */
  readonly payload?: string
  /** For `setPriority`. */
  readonly priority?: number
}

export interface ActionResult {
  /** Whether it changed, or would change, anything. */
  readonly changed: boolean
  /** One sentence: what happened, what would happen, or why it is refused. */
  readonly sentence: string
  /** It is refused, and why: `BelayError`'s code. */
  readonly refused?: string | undefined
  /** What the schema of the payload found. `path` is where, like `items[0].count`; empty for the whole payload. */
  readonly issues?: readonly { readonly path: string; readonly message: string }[] | undefined
}

export interface Health {
  readonly readAt: number
  readonly tookMs: number
  readonly findings: readonly HealthFinding[]
  /** Runs that were started, and that ended, in the last minute. */
  readonly lastMinute: { readonly started: Capped; readonly ended: Capped }
  /** Runs that ended in a minute, on the average of each five minutes of the last hour, the oldest first. */
  readonly lastHour: readonly number[]
  readonly overview: Overview
  readonly workers: WorkerCounts
}

export interface HealthFinding {
  readonly type: string
  readonly sentence: string
  /** The runs that it names. */
  readonly runs: readonly string[]
  /** The keys of the first of them, and of those that its actions are about. */
  readonly keys: Readonly<Record<string, string>>
  /** What may be done here about one of these runs, or about another that each names. */
  readonly actions: readonly OfferedHere[]
  /** What may be done only elsewhere, as commands of `belay` to paste into a shell. */
  readonly commands: readonly string[]
  /** The query of Runs that lists all runs that it is about, which may be more than it names. */
  readonly query?: string | undefined
  /** Screens of this dashboard that show more of what it is about, like the schedules that it names. */
  readonly links?: readonly { readonly to: string; readonly words: string }[] | undefined
}
