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

/** A call of a service. */
interface Call {
  /** Whose money and goods these are. */
  readonly order: string
  /** The step's `idempotencyKey`. A call with the same key has its effect once. */
  readonly key: string
}

interface Payment extends Call {
  readonly cents?: number
}

interface Goods extends Call {
  readonly count?: number
}

export const card = {
  charge: ({ cents = 4_200, ...call }: Payment) => effect('card', 'charge', cents, call),
  refund: ({ cents = 4_200, ...call }: Payment) => effect('card', 'refund', -cents, call),
}

export const stock = {
  take: ({ count = 1, ...call }: Goods) => effect('stock', 'take', count, call),
  putBack: ({ count = 1, ...call }: Goods) => effect('stock', 'put back', -count, call),
}

export const mail = {
  send: ({ subject, ...call }: Call & { readonly subject: string }) => effect('mail', subject, 1, call),
}

type Service = 'card' | 'stock' | 'mail'

/** From now on that service refuses each call, until the reader opens it again. */
export async function close(service: Service): Promise<void> {
  await here().database.query('update shop.services set open = false where name = $1', [service])
}

const CALL = `
with called as (select open from shop.services where name = $2),
written as (
  insert into shop.ledger (key, service, what, amount, "order", worker)
  select $1, $2, $3, $4::int, $5, $6 from called where open
  on conflict (key) do update set calls = shop.ledger.calls + 1
)
select open from called`

/**
 * A call takes 0.8 s: half of it until the effect is there, half until the answer is. A worker that crashes between them has changed the world and does not know
 * it. Throws if the service is closed: then nothing has changed.
 */
async function effect(service: Service, what: string, amount: number, { order, key }: Call): Promise<string> {
  const { database, worker } = here()
  await work(400)
  const { rows } = await database.query<{ open: boolean }>(CALL, [key, service, what, amount, order, worker])
  if (rows[0]?.open !== true) throw new Error(`503 from the ${service} service: it is closed`)
  await work(400)
  return `${service}: ${what}`
}
