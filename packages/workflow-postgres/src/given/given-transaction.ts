import type { Transaction } from '@electric-sql/pglite'
import type { ClientBase } from 'pg'

/** A transaction opened by the caller of a verb, unwrapped. */
export type GivenTransaction =
  | { readonly driver: 'pg'; readonly client: ClientBase }
  | { readonly driver: 'pglite'; readonly transaction: Transaction }
  | HeldTransaction
  | TextTransaction

/** A transaction of a library that tells its connection, which should be a client of pg. */
export interface HeldTransaction {
  readonly driver: 'held'
  readonly library: string
  connection(): Promise<unknown>
}

/** A transaction in which only the library that opened it can run statements. */
export interface TextTransaction {
  readonly driver: 'text'
  /** Stands for the transaction. */
  readonly key: object
  readonly client: TextClient
}

/** Runs statements with texts as parameters, and with one column of texts as result: drivers agree on nothing else. */
export interface TextClient {
  /** Resolves to the rows as objects, if the client is what it seems to be. Never prepares the statement by name. */
  query(text: string, values: readonly (string | null)[]): Promise<unknown>
  /** Runs a statement without parameters and without a result. */
  script(text: string): Promise<unknown>
  /** Runs `work` under a savepoint, and rolls back to it if `work` throws. Omitted where plain statements do the same. */
  savepoint?<Result>(work: (client: TextClient) => Promise<Result>): Promise<Result>
}

/** What was given instead of a transaction, and why that will not do. */
export interface Unsuitable {
  readonly what: string
  /** Follows `what` in a sentence. */
  readonly because: string
}

/** An object or a function. */
export type Shape = Readonly<Record<PropertyKey, unknown>>

/**
 * Knows a library's transactions by their shape, not by their class: they may come from another copy of the library. Undefined: the object is of
 * another library. May throw what the object's getters throw.
 */
export type Recogniser = (tx: Shape) => GivenTransaction | Unsuitable | undefined

export function isShape(value: unknown): value is Shape {
  return (typeof value === 'object' || typeof value === 'function') && value !== null
}

type Method = (...values: readonly unknown[]) => Promise<unknown>

/** Reads the properties instead of asking whether they exist: Proxies answer that as they like. */
export function hasMethods<Name extends string>(
  value: Shape,
  ...names: readonly Name[]
): value is Shape & Readonly<Record<Name, Method>> {
  return names.every((name) => typeof value[name] === 'function')
}

/** The client did not do what its shape promised. The message follows "The tx". */
export class MisshapenError extends Error {}
