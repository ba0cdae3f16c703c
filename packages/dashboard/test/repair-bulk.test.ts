import { define, PermanentError, unchecked } from '@belay/workflow'
import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Repair } from '../src/api/many.ts'
import { opened, post, read } from './setup/calls.ts'
import { testStore } from './setup/store.ts'

/** `REPAIR_RUNS=20000` for the long form. */
const RUNS = Number(process.env['REPAIR_RUNS'] ?? 600)
const PATIENCE_MS = 60_000 + RUNS * 60

/** Money that moves, told by who called: the same key has its effect once, and each call is counted. */
async function bank(url: string, schema: string) {
  const pool = new pg.Pool({ connectionString: url, max: 6 })
  onTestFinished(() => pool.end())
  const table = `${schema}.bank`
  await pool.query(
    `create table ${table} (key text primary key, order_id text not null, cents int not null, calls int not null)`,
  )
  const move = async (key: string, order: string, cents: number) =>
    void (await pool.query(
      `insert into ${table} as b values ($1, $2, $3, 1) on conflict (key) do update set calls = b.calls + 1`,
      [key, order, cents],
    ))
  return {
    move,
    /** Orders by what they cost and by how many effects they have. */
    async balance() {
      const { rows } = await pool.query<{ cents: number; effects: number; orders: number }>(
        `select cents::int, effects::int, count(*)::int as orders from (
           select order_id, sum(cents) as cents, count(*) as effects from ${table} group by order_id
         ) o group by 1, 2 order by 1, 2`,
      )
      return rows
    },
    /** What the histories of all runs have. */
    async retries() {
      const { rows } = await pool.query(
        `select count(distinct run_id)::int as runs, count(*)::int as entries, count(distinct actor)::int as people
         from ${schema}.workflow_history where action = 'retry'`,
      )
      return rows[0]
    },
  }
}

describe(`a repair of ${RUNS} runs`, () => {
  it(
    'goes on beside the workers: each run is changed once, none is lost, and the money is exact',
    async () => {
      const { engine, url, schema } = await testStore()
      const { move, balance, retries } = await bank(url, schema)
      let couriers = 0
      const order = define('order', { version: 1, input: unchecked<string>() })
        .step('charge', {
          run: ({ input, idempotencyKey }) => move(idempotencyKey, input, 40),
          compensate: ({ input, idempotencyKey }) => move(idempotencyKey, input, -40),
        })
        .step('book', {
          dependsOn: ['charge'],
          run: () => {
            if (couriers === 0) throw new PermanentError('no courier drives')
          },
        })
      const workers = [0, 1].map((n) => engine({ workflows: [order], name: `worker ${n}` }))
      const starter = workers[0]!
      for (const worker of workers) await worker.start()
      for (let first = 0; first < RUNS; first += 500) {
        const part = Array.from({ length: Math.min(500, RUNS - first) }, (_, n) => `order:${first + n}`)
        await starter.runMany(
          order,
          part.map((key) => ({ input: key, key })),
        )
      }
      const countOf = async (status: 'compensated' | 'completed') =>
        (await starter.runs.count({ workflow: 'order', status, max: 1_000_000 })).count
      await vi.waitFor(async () => expect(await countOf('compensated')).toBe(RUNS), PATIENCE_MS)
      expect(await balance()).toEqual([{ cents: 0, effects: 2, orders: RUNS }])

      couriers = 1
      const handler = opened({ engine: engine() })
      const asked = await post(handler, 'repairs', {
        verb: 'retry',
        query: 'workflow=order&status=compensated',
      })
      const { id } = (await asked.json()) as Repair
      const repair = () => read<Repair>(handler, `repairs/${id}`)
      const counted = await vi.waitFor(async () => {
        const found = await repair()
        expect(found.state).toBe('counted')
        return found
      }, PATIENCE_MS)
      expect(counted.found).toMatchObject({ matched: RUNS, changed: RUNS, refused: 0 })
      await post(handler, `repairs/${id}/actions`, { action: 'begin', reason: 'the courier drives again' })
      // Meanwhile new orders come in, and the progress only grows.
      const seen: number[] = []
      let others = 0
      const ended = await vi.waitFor(
        async () => {
          await starter.run(order, `other:${++others}`, { key: `other:${others}` })
          const now = await repair()
          seen.push(now.done?.changed ?? 0)
          expect(now.state).toBe('done')
          return now
        },
        { timeout: PATIENCE_MS, interval: 100 },
      )
      expect(ended.done).toMatchObject({ matched: RUNS, changed: RUNS, refused: 0 })
      expect(seen).toEqual(seen.toSorted((one, other) => one - other))
      await vi.waitFor(async () => expect(await countOf('completed')).toBe(RUNS + others), PATIENCE_MS)
      expect(await balance()).toEqual([
        { cents: 40, effects: 1, orders: others },
        { cents: 40, effects: 3, orders: RUNS },
      ])
      expect(await retries()).toEqual({ runs: RUNS, entries: RUNS, people: 1 })
    },
    PATIENCE_MS * 4,
  )
})
