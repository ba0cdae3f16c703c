import { createPglite } from '@belay/postgres-server'
import { memory } from '@belay/testing'
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pglite } from '../../src/pglite.ts'
import { createDatabase, createStore, servers, type TestDatabase } from '../setup/database.ts'
import { DEFINITION_ROWS } from './definition-rows.ts'
import { ENGINE_LIFE_ROWS, ENGINE_ROWS } from './engine-rows.ts'
import { engineVerbRows, handleRows } from './handle-rows.ts'
import { OTHER_ROWS } from './other-rows.ts'
import { SCHEDULE_ROWS } from './schedule-rows.ts'
import { exportedFunctions, methodsOf } from './surface.ts'
import { complaintsOf, type Row } from './verdict.ts'
import { hostileWorkflow, openWorld, renew, type World } from './world.ts'

/** Functions that use the store. */
const STORE_ROWS: readonly Row<World>[] = [
  ...ENGINE_ROWS,
  ...SCHEDULE_ROWS,
  ...engineVerbRows(),
  ...handleRows('handle', ({ run }) => run),
  ...handleRows('keyed', ({ keyed }) => keyed),
]
const ROWS: readonly Row<World>[] = [...DEFINITION_ROWS, ...ENGINE_LIFE_ROWS, ...OTHER_ROWS, ...STORE_ROWS]

/** Public functions that are not called here, and why. */
const NOT_CALLED: Readonly<Record<string, string>> = {
  LimitReachedError: 'the engine makes it from a limit that the store has read',
  RunFailedError: 'the engine makes it from a run that it has read',
  StepFailedError: 'the engine makes it from a step that it has read',
  InputIssues: "the engine makes it from a schema's issues",
  BrokenInvariantError: 'the memory adapter makes it for a broken invariant',
  MemoryAdapter: 'memory() makes it',
  RollbackReport: 'checkRollback() makes it',
  undoReport: 'it reads a run that runs.get() has given',
  stepStates: 'it reads a run that runs.get() has given',
  parseExactJson: 'it takes a text and throws what JSON.parse() throws, and a RangeError',
  quoteWithoutPayloads: 'explain() and doctor() call it',
  'clock.step': 'it is internal: testWorkflow() calls it',
  MemoryTransaction: 'transaction() of a memory adapter makes it',
  makeTables: 'it is the drizzle schema: drizzle checks its arguments',
  'engine.refer': 'it is protected: the verbs of the engine call it',
}

/** Fails with the text of all complaints, not with their number. */
async function expectNoComplaint(row: Row<World>, world: World): Promise<void> {
  const complaints = await complaintsOf(row, world)
  if (complaints.length > 0) expect.fail(complaints.join('\n'))
}

describe('a hostile value', () => {
  it('is tried on every public function', async () => {
    const { engine, run, keyed } = await openWorld(memory())
    const adapter = memory()
    const port = new Set(portOf(adapter))
    const names = [
      ...exportedFunctions(),
      ...methodsOf('engine', engine),
      ...methodsOf('runs', engine.runs),
      ...methodsOf('workers', engine.workers),
      ...methodsOf('workflows', engine.workflows),
      ...methodsOf('approvals', engine.approvals),
      ...methodsOf('schedules', engine.schedules),
      ...methodsOf('limits', engine.limits),
      ...methodsOf('handle', run),
      ...methodsOf('keyed', keyed),
      ...methodsOf('workflow', hostileWorkflow),
      ...methodsOf('clock', adapter.clock),
      ...methodsOf('adapter', adapter).filter((name) => !port.has(name)),
    ]

    const tried = new Set(ROWS.map(({ name }) => name))
    expect(names.filter((name) => !tried.has(name) && NOT_CALLED[name] === undefined)).toEqual([])
  })

  it.each(ROWS.map((row) => [row.name, row] as const))(
    'given to %s leads to a result, or to an error that says what, where and what to do',
    async (_, row) => {
      const world = await openWorld(memory({ clock: 'real' }))
      await expectNoComplaint(row, world)
    },
  )
})

/** The verbs of the port: an engine calls them with checked values. */
function portOf(adapter: object): readonly string[] {
  const own = new Set(['connect', 'dump', 'transaction'])
  return methodsOf('adapter', adapter).filter((name) => !own.has(name.slice('adapter.'.length)))
}

describe.each(servers.slice(0, 1))('a hostile value on $name', ({ url }) => {
  let database: TestDatabase
  let world: World

  beforeAll(async () => {
    database = await createDatabase(url)
    world = await openWorld(await createStore(database))
  })
  afterAll(() => database.drop())

  it.each(STORE_ROWS.map((row) => [row.name, row] as const))(
    'given to %s leads to a result, or to an error that says what, where and what to do',
    async (_, row) => {
      await renew(world)
      await expectNoComplaint(row, world)
    },
  )
})

describe('a hostile value on PGlite', () => {
  let db: PGlite
  let world: World

  beforeAll(async () => {
    db = await createPglite()
    const adapter = pglite(db)
    await adapter.open()
    world = await openWorld(adapter)
  })
  afterAll(() => db.close())

  it.each(STORE_ROWS.map((row) => [row.name, row] as const))(
    'given to %s leads to a result, or to an error that says what, where and what to do',
    async (_, row) => {
      await renew(world)
      await expectNoComplaint(row, world)
    },
  )
})
