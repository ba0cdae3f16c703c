import { randomUUID } from 'node:crypto'
import type { Claim, SavedDefinition } from '@belay/workflow/adapter'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { claim } from '../src/claim/claim.ts'
import { claimStepsDirectly } from '../src/claim/claim-directly.ts'
import { claimItems } from '../src/claim/claim-items.ts'
import { ClaimPace } from '../src/claim/claim-once.ts'
import { poolConnection } from '../src/connection/pool-connection.ts'
import { inSchema, type Statement } from '../src/connection/statement.ts'
import { EndMarks } from '../src/ends/end-marks.ts'
import { findEnds, findRunEnds, forgetRunEnds } from '../src/ends/run-ends.ts'
import type { PostgresAdapter } from '../src/index.ts'
import { ClaimMarks } from '../src/rows/claim-marks.ts'
import { LeaseJournal } from '../src/rows/lease-journal.ts'
import { placeLate, placeLateSteps } from '../src/workers/place-late-steps.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'

const SEEDED = 1_000
const TAKEN = 50
const TURNS = 120
// The marks have begun by then.
const FIRST = 30
const LAST = 80
const PRIORITIES = [0, 1, 2, 3, 4, 5, 8, 10, 15, 20]
/** One look of five is where steps with priorities are. */
const LOOKS = 6

// While a session holds a snapshot, dead rows of the queue stay. Blocks are counted, and the clock of the marks stands still: nothing depends on time.
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

describe.each(servers)('beside a held snapshot, on $name', ({ name, url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  let definition: SavedDefinition
  let run: string
  /** The clock of the marks, in milliseconds. */
  let now = 0
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  beforeEach(async () => {
    now = 0
    store = await createStore(database)
    ;[definition] = (await store.saveDefinitions([definitionOf('held', { a: [] })])) as [SavedDefinition]
    // So that the tables' indexes are as high as they will be.
    run = (await start(SEEDED))[0]!
  })

  async function holdSnapshot(): Promise<void> {
    const holder = await database.pool.connect()
    await holder.query('begin isolation level repeatable read')
    await holder.query('select 1')
    onTestFinished(async () => {
      await holder.query('rollback')
      holder.release()
    })
  }

  const start = async (count: number, more: object = {}): Promise<readonly string[]> => {
    const runs = Array.from({ length: count }, () => ({
      ...{
        runId: randomUUID(),
        definitionId: definition.id,
        workflow: definition.name,
        key: null,
        input: null,
      },
      ...more,
    }))
    await store.startRuns(runs)
    return runs.map(({ runId }) => runId)
  }

  /** A worker that claims as an adapter does, and counts the blocks that statements of a name read. */
  async function worker(statement: Statement<unknown>) {
    const counted = inSchema(statement.text, store.schema)
    const hasMaps = statement === claimItems
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'w', leaseMs: 600_000 })
    const read: number[] = []
    const connection = poolConnection({
      lender: {
        lend: (work) =>
          work({
            isPooled: false,
            async query(config) {
              const { text, values = [] } = config as { text: string; values?: unknown[] }
              if (text === counted && statement !== findEnds)
                read.push(await blocksOf(await database.pool.connect(), text, values))
              const answer = await database.pool.query(config)
              // Ends are small and lie close together: entries are counted instead.
              if (text === counted && statement === findEnds) read.push(answer.rows[0].scanned)
              return answer
            },
          }),
      },
      ...{ schema: store.schema, prepare: false, address: { host: '', port: 0, database: '', user: '' } },
    })
    const marks = (band: 'all' | 'forward' | 'undos') => new ClaimMarks(band, () => now)
    const memory = {
      ...{ marks: marks('all'), itemMarks: marks('forward'), undoMarks: marks('undos') },
      ...{ mapped: new Map([[definition.id, hasMaps]]), journal: new LeaseJournal(), pace: new ClaimPace() },
    }
    const lateMarks = marks('forward')
    const endMarks = new EndMarks(() => 0)
    return {
      workerId,
      read,
      async followEnds(limit: number): Promise<number> {
        const ends = await findRunEnds(connection, { definitionIds: [definition.id], limit }, endMarks)
        await forgetRunEnds(connection, ends)
        return ends.length
      },
      placeLate: () => placeLateSteps(connection, lateMarks),
      async take(limit: number): Promise<readonly Claim[]> {
        const answer = await claim(connection, { workerId, definitionIds: [definition.id], limit }, memory)
        return answer === 'lost' ? expect.fail('The worker was lost.') : answer.claims
      },
    }
  }

  type Worker = Awaited<ReturnType<typeof worker>>

  /** Queues `count` rows, and takes them. */
  type Turn = (worker: Worker, count: number) => Promise<void>

  const complete = async ({ workerId }: Worker, claims: readonly Claim[]): Promise<void> => {
    await store.settle({ workerId, outcomes: claims.map(completed), handBackMax: 0 })
  }

  const hints = (columns: string, values: string) => async (count: number) => {
    await database.pool.query(
      `insert into ${store.schema}.${columns} select ${values} from generate_series(1, $3::int) n where $1::int > 0 and $2::uuid is not null`,
      [definition.id, run, count],
    )
  }
  const hintsAt = (place: string) =>
    hints(
      'workflow_ready (available_at, definition_id, step, fence, run_id)',
      `${place}, $1::int, 0, 99, $2::uuid`,
    )

  const stale =
    (queue: (count: number) => Promise<void>): Turn =>
    async (taker, count) => {
      await queue(count)
      expect(await taker.take(count)).toEqual([])
    }

  const KINDS: readonly (readonly [kind: string, statement: Statement<unknown>, turn: Turn])[] = [
    [
      'starts',
      claimStepsDirectly,
      async (taker, count) => {
        await start(count)
        const claims = await taker.take(count)
        expect(claims).toHaveLength(count)
        await complete(taker, claims)
      },
    ],
    [
      'signals to waiting steps',
      claimStepsDirectly,
      async (taker, count) => {
        const signals = await waiting(taker, count, { afterMs: 14 * 86_400_000 })
        await store.deliverSignals(signals)
        const claims = await taker.take(count)
        expect(claims).toHaveLength(count)
        await complete(taker, claims)
      },
    ],
    [
      'timers',
      claimStepsDirectly,
      async (taker, count) => {
        await waiting(taker, count, { at: 0 })
        const claims = await taker.take(count)
        expect(claims).toHaveLength(count)
        await complete(taker, claims)
      },
    ],
    [
      'retries',
      claimStepsDirectly,
      async (taker, count) => {
        await start(count)
        const [error, delayMs] = ['{"name":"Error","message":"no"}', 0]
        const outcomes = (await taker.take(count)).map((one) => ({
          ...one,
          type: 'retry' as const,
          error,
          delayMs,
        }))
        await store.settle({ workerId: taker.workerId, outcomes, handBackMax: 0 })
        const claims = await taker.take(count)
        expect(claims).toHaveLength(count)
        await complete(taker, claims)
      },
    ],
    [
      'ends of runs',
      findEnds,
      async (taker, count) => {
        await start(count, { reportsEnd: true })
        await complete(taker, await taker.take(count))
        // More than there are: the look reaches the last end.
        expect(await taker.followEnds(2 * count)).toBe(count)
      },
    ],
    ['undos', claimStepsDirectly, stale(hintsAt("clock_timestamp() - interval '2001 minutes'"))],
    [
      'ranges of items',
      claimItems,
      stale(
        hints(
          'workflow_ready_items (available_at, definition_id, step, items, fence, run_id)',
          'clock_timestamp(), $1::int, 0, 1, 99, $2::uuid',
        ),
      ),
    ],
    [
      'steps that take a place of their priority later',
      placeLate,
      async (taker, count) => {
        await hints(
          'workflow_ready_late (due_at, lead, definition_id, step, fence, run_id)',
          'clock_timestamp(), 5, $1::int, 0, 99, $2::uuid',
        )(count)
        expect(await taker.placeLate()).toBe(count)
        await taker.take(count)
      },
    ],
  ]

  /** Runs whose step waits, and signals for them. */
  async function waiting(
    taker: Worker,
    count: number,
    wake: { readonly afterMs: number } | { readonly at: number },
  ) {
    await start(count)
    const claims = await taker.take(count)
    const outcomes = claims.map((one) => ({ ...one, type: 'waiting' as const, wake }))
    await store.settle({ workerId: taker.workerId, outcomes, handBackMax: 0 })
    return claims.map(({ runId, step }) => ({
      ...{ runId, step, definitionId: definition.id, key: 'k', actor: null, payload: '1' },
    }))
  }

  // On PostgreSQL 14 a look for ranges reads up to three times as much after so many of them: a known limit, in docs/flow-control.md.
  const held = KINDS.filter(([kind]) => kind !== 'ranges of items' || name !== 'PostgreSQL 14')

  it.each(held)('a look reads no more for %s after six thousand of them', async (kind, statement, turn) => {
    const taker = await worker(statement)
    await complete(taker, await taker.take(SEEDED))
    await holdSnapshot()

    const turns: number[] = []
    for (let number = 0; number < TURNS; number += 1) {
      taker.read.length = 0
      await turn(taker, TAKEN)
      turns.push(sum(taker.read))
    }

    const [first, last] = [sum(turns.slice(0, FIRST)) / FIRST, sum(turns.slice(-LAST)) / LAST]
    expect(first).toBeGreaterThan(0)
    // The first looks for undos are at the whole queue. Without marks, later ones cost a third more; with them, less than half. A look for ranges reads
    // more where six thousand take longer, and marks of earlier minutes are forgotten: 1.7 times as much was seen on a busy machine.
    expect(last).toBeLessThanOrEqual(
      kind === 'undos' ? first : (kind === 'ranges of items' ? 2.5 : 1.3) * first + 5,
    )
  })

  it('steps of ten priorities are claimed as soon as those without one', async () => {
    const taker = await worker(claimStepsDirectly)
    await complete(taker, await taker.take(SEEDED))
    await holdSnapshot()

    const unclaimed = new Set<number>()
    for (let number = 0; number < 2 * FIRST; number += 1) {
      // The tables may have dead rows of an earlier test, after which a look at the whole queue rests for two minutes at most.
      if (number === 1) now += 120_001
      const started = new Map<string, number>()
      for (const priority of PRIORITIES)
        for (const runId of await start(5, { priority })) started.set(runId, priority)
      for (let look = 0; look < LOOKS; look += 1) {
        const claims = await taker.take(TAKEN)
        for (const { runId } of claims) started.delete(runId)
        await complete(taker, claims)
      }
      if (number >= FIRST) for (const priority of started.values()) unclaimed.add(priority)
    }

    expect([...unclaimed]).toEqual([])
  })

  /** Runs a statement, counts the blocks that it read, and rolls it back. */
  async function blocksOf(client: PoolClient, text: string, values: readonly unknown[]): Promise<number> {
    try {
      await client.query('begin')
      const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, [...values])
      const { Plan: plan } = rows[0]['QUERY PLAN'][0]
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    } finally {
      await client.query('rollback')
      client.release()
    }
  }
})
