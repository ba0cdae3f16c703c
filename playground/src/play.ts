import type { DeclaredSchedule, Engine, WorkflowDefinition } from '@belay/workflow'
import type { PGliteInterface } from '@electric-sql/pglite'

/**
 * What the reader's code imports as `playground`: a shop's outside world, which is a ledger in the same database and knows nothing of Belay, and time that
 * passes slowly enough to read.
 */
export interface Play {
  readonly workflows: readonly WorkflowDefinition[]
  readonly schedules?: readonly DeclaredSchedule[]
  /** Starts the run of that number, from 1. */
  start(engine: Engine, number: number): Promise<{ readonly id: string }>
}

/** What the default export of the reader's code is. */
export function play(given: Play): Play {
  return given
}

interface Place {
  readonly database: PGliteInterface
  readonly worker: string
  slowness: number
}

let place: Place | undefined

/** Set by the worker, before the reader's code is loaded. */
export function playIn(given: Place): void {
  place = given
}

export function slowDown(slowness: number): void {
  if (place !== undefined) place.slowness = slowness
}

function here(): Place {
  if (place === undefined) throw new Error('This runs in a worker of the playground only.')
  return place
}

/** Takes that many milliseconds, times what the dial says. */
export function work(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms * here().slowness))
}

/** What a service needs to know that a call is the same as an earlier one. */
interface Told {
  readonly order: string | undefined
  /** The step's `idempotencyKey`. A call with the same key has its effect once. */
  readonly key: string
}

export const card = {
  charge: (told: Told & { readonly cents: number }) => entry('card', 'charge', told.cents, told),
  refund: (told: Told & { readonly cents: number }) => entry('card', 'refund', -told.cents, told),
}

export const stock = {
  take: (told: Told & { readonly count: number }) => entry('stock', 'take', told.count, told),
  putBack: (told: Told & { readonly count: number }) => entry('stock', 'put back', -told.count, told),
}

export const mail = {
  send: (told: Told & { readonly subject: string }) => entry('mail', told.subject, 1, told),
}

/** Whether a service of that name is open, by the switches of the page. A refund fails while the `card` is closed. */
export async function isOpen(service: string): Promise<boolean> {
  const { rows } = await here().database.query<{ open: boolean }>(
    'select open from shop.services where name = $1',
    [service],
  )
  return rows[0]?.open ?? true
}

/** Writes into the ledger. Throws if the service is closed: then nothing is written. */
async function entry(service: string, what: string, amount: number, { order, key }: Told): Promise<string> {
  const { database, worker } = here()
  if (!(await isOpen(service))) throw new Error(`503 from the ${service} service: it is closed`)
  await database.query(
    `insert into shop.ledger (key, service, what, amount, "order", worker) values ($1, $2, $3, $4, $5, $6)
     on conflict (key) do update set calls = shop.ledger.calls + 1`,
    [key, service, what, amount, order ?? '', worker],
  )
  return `${service} ${what} ${order ?? ''}`.trim()
}
