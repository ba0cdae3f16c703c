import { randomUUID } from 'node:crypto'
import { createEngine, define, type ScheduleOptions } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { refuseRows } from './setup/refusing-rows.ts'

const WITHIN = { timeout: 30_000 }
/** A right, the disk, memory, the file system, a cancelled statement, a defect of the server, a conflict: all of them pass. */
const PASSING = ['42501', '53100', '53200', '58030', '57014', 'XX000', '40001']
/** A value that the database cannot keep: it is refused for ever. */
const LASTING = ['22P02', '22P05', '23514']

const simple = define('simple', { version: 1 }).step('note', { run: () => null })
const long = define('long', { version: 1 }).waitForSignal('go', {})

describe.each(servers)('a firing that the database refuses, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  const opened = async () => {
    const schema = `belay_${randomUUID().replaceAll('-', '')}`
    const adapter = await createStore(database, { schema })
    const engine = createEngine({ adapter, workflows: [simple, long], tick: '20ms' })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    const refuse = (code: string, table = 'workflow_runs') =>
      refuseRows(database.pool, { schema, table, on: 'insert', when: 'true', code })
    const isNamed = () =>
      expect
        .poll(async () => (await engine.doctor()).findings, WITHIN)
        .toContainEqual(
          expect.objectContaining({
            type: 'refused_by_store',
            name: 'schedule "s"',
            message: expect.stringMatching(/firing fails for schedule "s": .*refused by a test/),
          }),
        )
    const statuses = async () => (await engine.schedules.history('s')).map(({ status }) => status)
    return { engine, refuse, isNamed, statuses }
  }

  it.each(PASSING)('with %s is tried again, and starts its one run once it is accepted', async (code) => {
    const { engine, refuse, isNamed, statuses } = await opened()
    const accept = await refuse(code)
    await engine.schedules.put('s', { workflow: simple, ...once() })

    await isNamed()
    expect(await statuses()).toEqual([])
    await accept()

    await expect.poll(statuses, WITHIN).toEqual(['started'])
    expect(await engine.runs.count({ workflow: 'simple' })).toMatchObject({ count: 1 })
    expect((await engine.doctor()).findings).toEqual([])
  })

  it.each(PASSING)(
    'with %s while it is queued goes on waiting, and starts its one run once it is accepted',
    async (code) => {
      const { engine, refuse, isNamed, statuses } = await opened()
      await engine.schedules.put('s', { cron: '0 0 1 1 *', workflow: long, overlap: 'queue' })
      const first = await engine.schedules.trigger('s')
      await engine.schedules.trigger('s')
      const accept = await refuse(code)

      await engine.signal(first.runId!, 'go', 1)
      await isNamed()
      expect(await statuses()).toEqual(['queued', 'started'])
      await accept()

      await expect.poll(statuses, WITHIN).toEqual(['started', 'started'])
      expect(await engine.runs.count({ workflow: 'long' })).toMatchObject({ count: 2 })
    },
  )

  it.each(LASTING)('with %s, for its values, has failed, and the schedule goes on', async (code) => {
    const { engine, refuse, statuses } = await opened()
    const accept = await refuse(code)
    await engine.schedules.put('s', { every: '1s', workflow: simple })

    await expect.poll(statuses, WITHIN).toContain('failed')
    const [failed] = await engine.schedules.history('s')
    expect(failed!.reason).toMatch(/refused by a test/)
    await accept()

    await expect.poll(statuses, WITHIN).toContain('started')
  })

  it('does not fail because its failure cannot be recorded: it is tried again', async () => {
    const { engine, refuse, isNamed, statuses } = await opened()
    const accept = await refuse('23514', 'workflow_firings')
    await engine.schedules.put('s', { workflow: simple, ...once() })

    await isNamed()
    await accept()

    await expect.poll(statuses, WITHIN).toEqual(['started'])
  })
})

/** Has one time. */
function once(): Pick<ScheduleOptions, 'every' | 'until'> {
  return { every: '1s', until: new Date(Date.now() + 1_900) }
}
