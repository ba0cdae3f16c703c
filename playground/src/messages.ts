import type { ViewRun } from '@belay/graph-view'
import type { EngineEvents } from '@belay/workflow'

/** What the page, the database's worker and the workers of engines tell each other. */

/** A failure on its way between threads: what a reader needs, and what the engine decides by. */
export interface Problem {
  readonly name: string
  readonly message: string
  /** SQLSTATE, or the code of a Belay error. */
  readonly code?: string | undefined
  readonly detail?: string | undefined
  readonly hint?: string | undefined
  /** Of the reader's code: from 1. */
  readonly line?: number | undefined
}

/** Of the page to the database's worker. */
export type ToDatabase =
  /** `fresh` throws the stored database away; `inMemory` stores nothing. */
  | { readonly type: 'open'; readonly fresh: boolean; readonly inMemory: boolean }
  /** A client's port. Its lock is held as long as it lives. */
  | { readonly type: 'client'; readonly name: string; readonly lock: string; readonly port: MessagePort }
  /** For that long the database answers nobody, and what was under way is rolled back. */
  | { readonly type: 'cut'; readonly ms: number }

/** Of the database's worker to the page. */
export type FromDatabase =
  | { readonly type: 'progress'; readonly part: number; readonly what: string }
  /** `continued`: with what was stored. `isKept`: what is committed outlives the page. */
  | { readonly type: 'opened'; readonly continued: boolean; readonly isKept: boolean }
  | { readonly type: 'failed'; readonly problem: Problem }
  | { readonly type: 'statement'; readonly statement: Statement }
  | { readonly type: 'client_gone'; readonly name: string; readonly rolledBack: boolean }

/** A statement that leased steps. */
export interface Statement {
  readonly client: string
  readonly text: string
  readonly ms: number
  readonly rows: number
}

/** Of a client to the database. `within` names a transaction that `begin` has opened. */
export type Call =
  | {
      readonly id: number
      readonly call: 'query' | 'exec'
      readonly text: string
      readonly values?: readonly unknown[] | undefined
      readonly within?: number | undefined
    }
  | { readonly id: number; readonly call: 'begin' }
  | { readonly id: number; readonly call: 'commit' | 'rollback'; readonly within: number }

export type CallAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly problem: Problem }

/** What a worker and the application begin with. */
export interface Opening {
  readonly type: 'open'
  readonly name: string
  readonly lock: string
  readonly database: MessagePort
  /** The reader's code as a JavaScript module. */
  readonly code: string
  readonly pace: Pace
}

export interface Pace {
  /** 1: as written; 4: four times as slow; 0: the work takes no time. */
  readonly slowness: number
  /** How many steps a worker executes at once. */
  readonly slots: number
}

/** Of the page to an engine that works. */
export type ToWorker =
  | Opening
  /** Blocks the thread, as a long pause of a process does. */
  | { readonly type: 'freeze'; readonly ms: number }
  | { readonly type: 'pace'; readonly pace: Pace }

/** A run, as the page shows it. */
export interface Look {
  readonly run: ViewRun
  /** The sentence of the run. */
  readonly why: string
  /** Of each open step: its sentence, and what may be done. */
  readonly open: readonly {
    readonly step: string
    readonly sentence: string
    readonly actions: readonly { readonly verb: string; readonly step?: string | undefined }[]
  }[]
}

export interface ListedRun {
  readonly id: string
  readonly key?: string | undefined
  readonly workflow: string
  readonly version: number
  readonly status: ViewRun['status']
}

/** Of the page to the application: the engine that starts and shows runs, and executes nothing. */
export type ToApp = Opening | { readonly type: 'call'; readonly id: number; readonly call: AppCall }

export type AppCall =
  /** Starts as many runs, numbered from `first`. Answers their ids. */
  | { readonly do: 'start'; readonly first: number; readonly count: number }
  /** The newest, as {@link ListedRun}s. */
  | { readonly do: 'runs'; readonly limit: number }
  /** A {@link Look}. */
  | { readonly do: 'look'; readonly id: string }
  | {
      readonly do: 'act'
      readonly verb: string
      readonly run: string
      readonly step?: string | undefined
      readonly payload?: unknown
    }
  /** Versions that have runs and no worker with their code: a sentence for each. */
  | { readonly do: 'forgotten' }

export type FromEngine =
  | { readonly type: 'opened' }
  /** The reader's code cannot be used. */
  | { readonly type: 'failed'; readonly problem: Problem }
  | { readonly [Name in keyof EngineEvents]: EngineEvent<Name> }[keyof EngineEvents]
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'answer'; readonly id: number; readonly problem: Problem }

export interface EngineEvent<Name extends keyof EngineEvents> {
  readonly type: 'event'
  readonly name: Name
  /** Errors in it are {@link Problem}s. */
  readonly event: EngineEvents[Name]
}

export function problemOf(error: unknown): Problem {
  const { name, message, code, detail, hint, line } = Object(error) as Partial<Record<keyof Problem, unknown>>
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return {
    name: text(name) ?? 'Error',
    message: text(message) ?? String(error),
    ...{ code: text(code), detail: text(detail), hint: text(hint) },
    line: typeof line === 'number' ? line : undefined,
  }
}

/** An error again, with the code by which the engine decides. */
export function errorOf({ name, message, ...more }: Problem): Error {
  const given = Object.entries(more).filter(([, value]) => value !== undefined)
  return Object.assign(new Error(message), { name }, Object.fromEntries(given))
}
