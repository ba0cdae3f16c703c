import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claim } from '../src/claim/claim.ts'
import { ClaimMarks } from '../src/claim/claim-marks.ts'
import { ClaimPace } from '../src/claim/claim-once.ts'
import { poolConnection } from '../src/connection/pool-connection.ts'
import type { PostgresAdapter } from '../src/index.ts'
import { LeaseJournal } from '../src/rows/lease-journal.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'

const WHOLE = Number.NEGATIVE_INFINITY

/** Marks, and a function that simulates looks of a given duration. */
function timedMarks() {
  let now = 0
  const marks = new ClaimMarks(() => now)
  const look = (
    ids: readonly number[],
    tookMs: number,
    found: Readonly<Record<number, number>> = {},
    dequeued = 0,
  ) => {
    const { since, end } = marks.begin(ids)
    now += tookMs
    const definitionIds = Object.keys(found).map(Number)
    end({
      dequeued,
      definition_ids: definitionIds.length === 0 ? null : definitionIds,
      marks: definitionIds.length === 0 ? null : Object.values(found),
      took_ms: tookMs,
    })
    return since
  }
  return { look, pass: (ms: number) => (now += ms), placedBehind: () => marks.placedBehind() }
}

describe('claim marks', () => {
  it('are not used while looks at the whole queue are quick', () => {
    const { look } = timedMarks()

    expect(look([1], 5, { 1: 100 })).toEqual([WHOLE])
    // A slow look, but it found so many rows that its time is justified.
    expect(look([1], 60, { 1: 200 }, 500)).toEqual([WHOLE])
    expect(look([1], 5)).toEqual([WHOLE])
  })

  it('are used after a slow look for ten times its duration, each definition from slightly before its own mark', () => {
    const { look, pass } = timedMarks()
    look([1, 2], 5, { 1: 100 })
    look([1, 2], 100, { 2: 300 })

    expect(look([1, 2, 3], 1, { 1: 150 })).toEqual([100 - 0.1, 300 - 0.1, WHOLE])
    expect(look([1], 1)).toEqual([150 - 0.1])
    pass(1_000)
    expect(look([1], 1)).toEqual([WHOLE])
    expect(look([1], 1)).toEqual([WHOLE])
  })

  it('are left out once after this process has placed steps behind them', () => {
    const { look, placedBehind } = timedMarks()
    look([1], 100, { 1: 300 })
    const before = look([1], 1)

    placedBehind()

    expect(before).toEqual([300 - 0.1])
    expect(look([1], 1)).toEqual([WHOLE])
    expect(look([1], 1)).toEqual([300 - 0.1])
  })

  it('are left out for placed steps no more than a quarter of the time while that is slow', () => {
    const { look, placedBehind, pass } = timedMarks()
    look([1], 100, { 1: 300 })
    placedBehind()
    look([1], 100, { 1: 300 })

    placedBehind()
    const atOnce = look([1], 1)
    pass(310)

    expect(atOnce).toEqual([300 - 0.1])
    expect(look([1], 1)).toEqual([WHOLE])
  })

  it('go back to a row that was placed behind them, so that those after it are found too', () => {
    const { look, placedBehind } = timedMarks()
    look([1], 100, { 1: 300 })

    placedBehind()
    look([1], 1, { 1: 100 })

    expect(look([1], 1)).toEqual([100 - 0.1])
  })
})

describe.each(servers)('claims from a mark on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  const claiming = async (name: string) => {
    const [definition] = await store.saveDefinitions([definitionOf(name, { a: [] })])
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name, leaseMs: 60_000 })
    const connection = poolConnection({
      lender: { lend: (work) => work({ isPooled: false, query: (config) => database.pool.query(config) }) },
      schema: store.schema,
      prepare: true,
      address: { host: '', port: 0, database: '', user: '' },
    })
    let now = 0
    const marks = new ClaimMarks(() => now)
    const memory = {
      ...{ marks, itemMarks: new ClaimMarks(), mapped: new Map<number, boolean>() },
      ...{ journal: new LeaseJournal(), pace: new ClaimPace() },
    }
    const definitionIds = [definition!.id]
    const claims = async () => {
      const answer = await claim(connection, { workerId, definitionIds, limit: 10 }, memory)
      return answer === 'lost' ? [] : answer.claims
    }
    const start = async (): Promise<string> => {
      const runId = randomUUID()
      await store.startRuns([
        { runId, definitionId: definition!.id, workflow: definition!.name, key: null, input: null },
      ])
      return runId
    }
    /** As if the server had scanned for a second: the next looks begin at the marks. */
    const lookSlowly = () =>
      marks.begin(definitionIds).end({ dequeued: 0, definition_ids: null, marks: null, took_ms: 1_000 })
    return { workerId, claims, start, lookSlowly, pass: (ms: number) => (now += ms) }
  }

  it('find a step that waits until an instant that has passed', async () => {
    const { workerId, claims, start, lookSlowly } = await claiming('overdue')
    const runId = await start()
    const [claimed] = await claims()
    lookSlowly()

    const wake = { at: Date.now() - 3_600_000 }
    await store.settle({ workerId, outcomes: [{ ...claimed!, type: 'waiting', wake }], handBackMax: 0 })

    expect(await claims()).toMatchObject([{ runId, fence: 2 }])
  })

  it('skip rows due before the mark, and the next look at the whole queue finds them', async () => {
    const { claims, start, lookSlowly, pass } = await claiming('marked')
    const startDue = async (secondsAgo: number): Promise<string> => {
      const runId = await start()
      await database.pool.query(
        `update ${store.schema}.workflow_ready set available_at = now() - $2 * interval '1 second' where run_id = $1`,
        [runId, secondsAgo],
      )
      return runId
    }
    const claimed = async () => (await claims()).map(({ runId }) => runId)

    const first = await startDue(60)
    expect(await claimed()).toEqual([first])
    lookSlowly()
    const late = await startDue(120)
    const next = await startDue(30)
    expect(await claimed()).toEqual([next])
    expect(await claimed()).toEqual([])
    pass(60_000)
    expect(await claimed()).toEqual([late])
  })
})
