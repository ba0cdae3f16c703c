import { createEngine } from '@belay/workflow'
import type { Pool } from 'pg'
import { vi } from 'vitest'
import { postgres } from '../../src/index.ts'
import type { TestDatabase } from '../setup/database.ts'
import { within } from '../setup/within.ts'
import { applyFlow, flowControl, flowIsOver, workflowsOf } from './flow-control.mjs'
import { type Case, END_MS, expectRest } from './killed.ts'
import { type Sabotage, sabotaged } from './sabotage.ts'

/** The result of one case of flow control. What differs between correct results, as the runs that collected calls share, is judged by `wrongInFlow`. */
export interface FlowLeft {
  readonly runs: readonly { readonly id: string; readonly of: string; readonly status: string }[]
  /** How often each effect of a parcel was made, by the parcel's number and the step. */
  readonly effects: readonly string[]
  readonly parcels: readonly string[]
  readonly spans: readonly Span[]
  /** What the answer to each collected call said. */
  readonly answers: readonly { readonly kind: string; readonly call: string; readonly runId: string }[]
  /** How many calls the store has of each run. */
  readonly stored: readonly { readonly kind: string; readonly runId: string; readonly calls: number }[]
  readonly carried: readonly { readonly kind: string; readonly call: string; readonly runId: string }[]
  readonly firings: readonly Firing[]
  /** How many times the schedule of each second has until its end. */
  readonly seconds: number
  readonly asked: readonly { readonly trigger: string; readonly runId: string | null }[]
}

/** A call of a handler under one of its limits. Without an end it was cut off. */
export interface Span {
  readonly lim: string
  readonly key: string
  readonly runId: string
  readonly began: number
  readonly ended: number | null
}

export interface Firing {
  readonly of: string
  readonly cause: string
  readonly status: string
  readonly runId: string | null
}

/** Does what an application does after its process died: repeats everything, and works until everything has ended. A sabotage breaks its store. */
export async function finishFlow(
  database: TestDatabase,
  { name }: Pick<Case, 'name'>,
  sabotage?: Sabotage,
): Promise<FlowLeft> {
  const { pool } = database
  const store = postgres(database.url, { connectionsMax: 2, transactionsMax: 1, listen: false })
  const adapter = sabotage === undefined ? store : sabotaged(store, sabotage.verbs(store, { pool, name }))
  const flow = flowControl(name, pool)
  const engine = createEngine({ adapter, workflows: workflowsOf(flow), name: `${name}-second`, lease: '3s' })
  try {
    await engine.start()
    const { parcels, collected } = await applyFlow(engine, { name, pool, flow })
    await within(flowIsOver(pool, name), END_MS, `the flow of ${name} to end`)
    const runs = await runsOf(pool, name)
    await expectRest(
      pool,
      name,
      runs.map(({ id }) => id),
    )
    await expectNothingLeft(pool, name)
    return { ...(await leftOf(pool, name)), runs, answers: collected, ...(await parcelsOf(pool, parcels)) }
  } finally {
    await engine.close({ timeout: 0 })
  }
}

/** Asserts that nobody has a slot, nobody stands in a line, and no key of a limit is kept that nothing reads. */
async function expectNothingLeft(pool: Pool, name: string): Promise<void> {
  const left = `
    select 'slot' as what, limit_name, key from belay.workflow_limit_slots where limit_name like $1 || '-%'
    union all select 'waiter', limit_name, key from belay.workflow_limit_waiters where limit_name like $1 || '-%'
    union all select 'key', limit_name, key from belay.workflow_limit_keys where limit_name like $1 || '-%' and kept_ms is null`
  await vi.waitFor(
    async () => {
      const { rows } = await pool.query(left, [name])
      if (rows.length > 0) throw new Error(`The runs of ${name} ended, but left ${JSON.stringify(rows)}.`)
    },
    { timeout: END_MS, interval: 20 },
  )
}

async function runsOf(pool: Pool, name: string): Promise<FlowLeft['runs']> {
  const runs = `
    select id::text, substr(workflow, length($1) + 2) as "of", status from belay.workflow_runs where workflow like $1 || '-%' order by id`
  return (await pool.query<FlowLeft['runs'][number]>(runs, [name])).rows
}

async function leftOf(pool: Pool, name: string) {
  const rows = async <Row extends object>(text: string) => (await pool.query<Row>(text, [name])).rows
  return {
    spans: await rows<Span>(
      'select lim, key, run_id::text as "runId", began, ended from spans where name = $1',
    ),
    carried: await rows<FlowLeft['carried'][number]>(
      'select distinct kind, call, run_id::text as "runId" from carried where name = $1',
    ),
    stored: await rows<FlowLeft['stored'][number]>(
      `select substr(r.workflow, length($1) + 2) as kind, c.run_id::text as "runId", count(*)::int as calls
       from belay.workflow_collected_calls c join belay.workflow_runs r on r.id = c.run_id where r.workflow like $1 || '-%' group by 1, 2`,
    ),
    firings: await rows<Firing>(
      `select substr(schedule, length($1) + 2) as "of", cause, status, run_id::text as "runId" from belay.workflow_firings
       where schedule like $1 || '-%' order by schedule, sequence`,
    ),
    seconds: (await rows<{ seconds: number }>(SECONDS))[0]!.seconds,
    asked: await rows<FlowLeft['asked'][number]>(
      'select trigger, run_id::text as "runId" from asked where name = $1',
    ),
  }
}

const SECONDS = `
  select floor(((spec ->> 'until')::float8 - (spec -> 'timing' ->> 'anchorAt')::float8) / 1000)::int as seconds
  from belay.workflow_schedules where name = $1 || '-seconds'`

/** How the parcels ended, and their effects, without ids. */
async function parcelsOf(pool: Pool, parcels: readonly { readonly id: string }[]) {
  const ids = parcels.map(({ id }) => id)
  const ends = `select status from unnest($1::uuid[]) with ordinality p (id, nth) join belay.workflow_runs r using (id) order by nth`
  const effects = `
    select p.nth || substr(e.key, 37) as effect from effects e join unnest($1::text[]) with ordinality p (id, nth) on p.id = split_part(e.key, ':', 1)
    order by 1`
  return {
    parcels: (await pool.query<{ status: string }>(ends, [ids])).rows.map(({ status }) => status),
    effects: (await pool.query<{ effect: string }>(effects, [ids])).rows.map(({ effect }) => effect),
  }
}
