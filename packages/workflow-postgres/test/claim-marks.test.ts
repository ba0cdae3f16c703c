import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claim } from '../src/claim/claim.ts'
import { ClaimPace } from '../src/claim/claim-once.ts'
import { poolConnection } from '../src/connection/pool-connection.ts'
import type { PostgresAdapter } from '../src/index.ts'
import { ClaimMarks, type Placed } from '../src/rows/claim-marks.ts'
import { LeaseJournal } from '../src/rows/lease-journal.ts'
import { LookRation } from '../src/rows/look-ration.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'

const WHOLE = Number.NEGATIVE_INFINITY

interface Seen {
  readonly first?: number
  readonly found?: Readonly<Record<number, number>>
  readonly dequeued?: number
  readonly isExhausted?: boolean
  readonly now?: number
}

/** Marks, and a function that simulates looks that scan a given number of entries in vain. It returns what each look was at. */
function simulatedMarks() {
  let time = 0
  const marks = new ClaimMarks('all', () => time)
  const lookAt = (ids: readonly number[], vain: number, seen: Seen = {}) => {
    const { found = {}, first, dequeued = 0, isExhausted = false, now = 0 } = seen
    const { definitionIds, since, minutes, end } = marks.begin(ids)
    const places = Object.values(found)
    end({
      ...{ dequeued, isExhausted, now, scanned: vain + 2 * dequeued + 2 * ids.length },
      definition_ids: Object.keys(found).map(Number),
      marks: places,
      firsts: places.map((place) => first ?? place),
    })
    return definitionIds.map((id, index) => ({ id, since: since[index]!, minutes: minutes[index]! }))
  }
  const look = (ids: readonly number[], vain: number, seen?: Seen) =>
    lookAt(ids, vain, seen)
      .filter(({ minutes }) => minutes === 0)
      .map(({ since }) => since)
  return {
    ...{ look, lookAt },
    /** Looks until one begins at the mark of definition 1, with many dead entries before it. */
    settle(mark: number) {
      while (look([1], 1_000_000, { found: { 1: mark } })[0] !== mark - 0.05);
    },
    pass: (ms: number) => (time += ms),
    placedBehind: (placed: Placed) => marks.placedBehind(placed),
  }
}

describe('claim marks', () => {
  it('are not used while looks at the whole queue scan nothing in vain', () => {
    const { look } = simulatedMarks()

    expect(look([1], 0, { found: { 1: 100 } })).toEqual([WHOLE])
    expect(look([1], 16, { found: { 1: 200 }, dequeued: 200 })).toEqual([WHOLE])
    expect(look([1], 0)).toEqual([WHOLE])
  })

  it('are used after looks that did, each definition from its own mark, and less far behind each time', () => {
    const { look } = simulatedMarks()
    look([1, 2], 0, { found: { 1: 100 } })
    look([1, 2], 1_000_000, { found: { 1: 100, 2: 300 } })

    expect(look([1, 2, 3], 1_000_000)).toEqual([0, 200, WHOLE])
    expect(look([1], 1_000_000)).toEqual([90])
    expect(look([1], 1_000_000)).toEqual([99])
    expect(look([1], 1_000_000)).toEqual([100 - 0.05])
  })

  it('are left out again when other looks have cost 25 times as much', () => {
    const { look } = simulatedMarks()
    look([1], 16 + 50, { found: { 1: 100 } })

    expect(look([1], 0, { found: { 1: 200 }, dequeued: 50 })).toEqual([0])
    expect(look([1], 0, { found: { 1: 200 }, dequeued: 50 })).not.toEqual([WHOLE])
    expect(look([1], 0)).toEqual([WHOLE])
  })

  it('follow the clock where a look scanned in vain and found nothing, so that what others dequeued is not scanned again', () => {
    const { look, settle } = simulatedMarks()
    settle(100)

    look([1], 100, { isExhausted: true, now: 600 })
    // It left something, so it does not know what follows.
    expect(look([1], 100, { isExhausted: false, now: 700 })).toEqual([599.8 - 0.05])
    // Where looks scan nothing in vain, what was committed late stays within reach.
    expect(look([1], 0, { isExhausted: true, now: 800 })).toEqual([599.8 - 0.05])
    expect(look([1], 0)).toEqual([599.8 - 0.05])
  })

  it('leave out undos in one look of five only, and not in the next one if this process has placed some', () => {
    const { lookAt, settle, placedBehind } = simulatedMarks()
    settle(1_000_000)
    const bands = () =>
      lookAt([1], 0, { isExhausted: true, now: 1_000_000 }).filter(({ minutes }) => minutes > 0)
    while (bands().length === 0);

    expect([bands(), bands(), bands(), bands()]).toEqual([[], [], [], []])
    const undos = [{ id: 1, since: 1_000_000 - 2_001 * 60 - 0.2, minutes: 2_000 }]
    expect(bands()).toEqual(undos)
    placedBehind('undos')
    expect(bands()).toEqual(undos)
    expect(bands()).toEqual([])
  })

  it('leave out no more often the places of priorities that this process has given or found', () => {
    const { lookAt, settle, placedBehind } = simulatedMarks()
    settle(1_000_000)
    lookAt([1], 0, { found: { 1: 1_000_000 }, first: 1_000_000 - 7 * 60, isExhausted: true, now: 1_000_000 })

    placedBehind([30])

    const leads = lookAt([1], 0).map(({ minutes }) => minutes)
    expect(leads).toEqual([0, 2_000, 6, 29])
  })

  it('are left out while more priorities are in use than places are kept for', () => {
    const { look, settle, placedBehind, pass } = simulatedMarks()
    settle(1_000_000)

    placedBehind([1, 2, 3, 4])
    expect(look([1], 1_000)).not.toEqual([WHOLE])
    placedBehind([5])

    expect([look([1], 1_000), look([1], 1_000), look([1], 1_000)]).toEqual([[WHOLE], [WHOLE], [WHOLE]])
    pass(600_001)
    look([1], 1_000_000)
    expect(look([1], 1_000)).not.toEqual([WHOLE])
  })

  it('are left out once after this process has placed steps behind them without knowing where', () => {
    const { look, settle, placedBehind, pass } = simulatedMarks()
    settle(300)

    placedBehind('any')

    expect(look([1], 1_000, { found: { 1: 300 } })).toEqual([WHOLE])
    expect(look([1], 0)).toEqual([300 - 0.05])
    placedBehind('any')
    expect(look([1], 0)).not.toEqual([WHOLE])
    pass(50)
    expect(look([1], 1_000)).toEqual([WHOLE])
  })

  it('go back to a row that was placed behind them, if there may be others after it', () => {
    const { look, settle, placedBehind } = simulatedMarks()
    settle(300)

    placedBehind('any')
    look([1], 100_000, { found: { 1: 100 } })

    expect(look([1], 1)).toEqual([100 - 0.05])
  })

  it('do not go back to such a row if nothing is left after it', () => {
    const { look, settle, placedBehind } = simulatedMarks()
    settle(300)

    placedBehind('any')
    look([1], 100_000, { found: { 1: 100 }, isExhausted: true, now: 300 })

    expect(look([1], 1)).toEqual([300 - 0.05])
  })
})

describe('the ration of looks that scan dead entries', () => {
  /** The pauses between looks that each scan as much in vain, while no other look is made. */
  const restsAfter = (...scanned: readonly number[]) => {
    const ration = new LookRation()
    let now = 0
    return scanned.map((entries) => {
      ration.spend(entries, now)
      const began = now
      while (!ration.isDue(now)) now += 1
      return now - began
    })
  }

  it('rests longer while dead entries stay, and briefly once they are gone', () => {
    expect(restsAfter(1_016, 1_016, 1_016, 1_016, 1_016, 1_016, 1_016)).toEqual([
      20, 60, 180, 540, 1_620, 2_000, 2_000,
    ])
    expect(restsAfter(1_016, 1_016, 116, 1_016, 16)).toEqual([20, 60, 2, 20 * 3, 0])
  })

  it('rests for two minutes at most', () => {
    expect(restsAfter(5_000_000, 5_000_000)).toEqual([100_000, 120_000])
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
    const marks = new ClaimMarks('all', () => now)
    const others = { itemMarks: new ClaimMarks('forward'), undoMarks: new ClaimMarks('undos') }
    const memory = {
      ...{ marks, ...others, mapped: new Map<number, boolean>() },
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
    /** As if the server had scanned a million dead tuples: the next looks begin at the marks. */
    const lookSlowly = () => {
      for (let kind = 0; kind < 4; kind += 1)
        marks.begin(definitionIds).end({
          ...{ dequeued: 0, isExhausted: false, scanned: 1_000_000, now: 0 },
          ...{ definition_ids: null, marks: null, firsts: null },
        })
    }
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
