import { randomUUID } from 'node:crypto'
import { createEngine, define } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const WITHIN = { timeout: 30_000 }
const ticked = define('ticked', { version: 1 }).step('note', { run: () => null })
const late = define('late', { version: 1, deadline: '2s' }).waitForSignal('never', {})

/** What a hand or a bad restore may leave in the column `spec` of a schedule whose timing was sound. */
const SPECS: Readonly<Record<string, string>> = {
  'no object': `'null'`,
  'a text': `'"oops"'`,
  nothing: `'{}'`,
  'a timing that is no object': `(jsonb_set(spec::jsonb, '{timing}', '7'))::json`,
  'no overlap and no tags': `((spec::jsonb - 'overlap' - 'tags') || '{"timing": null}')::json`,
  'an unknown time zone': `(jsonb_set(spec::jsonb, '{timing}', '{"cron": "* * * * *", "timeZone": "Mars/Olympus"}'))::json`,
  'a pattern that is none': `(jsonb_set(spec::jsonb, '{timing}', '{"cron": "every day", "timeZone": "UTC"}'))::json`,
}

describe.each(servers)('a schedule whose row is damaged, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  it('holds up neither other schedules nor deadlines, and is named in the log, by doctor() and by list()', async () => {
    const schema = `belay_${randomUUID().replaceAll('-', '')}`
    const adapter = await createStore(database, { schema })
    const failed = new Set<unknown>()
    const error = (_: string, fields?: object) => void failed.add((fields as { schedule?: string }).schedule)
    const logger = { debug() {}, info() {}, warn() {}, error }
    const engine = createEngine({ adapter, workflows: [ticked, late], tick: '20ms', logger })
    onTestFinished(() => engine.close({ timeout: 0 }))
    for (const name of [...Object.keys(SPECS), 'infinite', 'sound'])
      await engine.schedules.put(name, { every: '1s', workflow: ticked, overlap: 'allow' })
    for (const [name, spec] of Object.entries(SPECS))
      await database.pool.query(`update ${schema}.workflow_schedules set spec = ${spec} where name = $1`, [
        name,
      ])
    await database.pool.query(
      `update ${schema}.workflow_schedules set next_at = '-infinity', due_at = '-infinity' where name = 'infinite'`,
    )

    await engine.start()
    const overdue = await engine.run(late)

    await expect.poll(async () => (await engine.schedules.history('sound')).length, WITHIN).toBeGreaterThan(2)
    await expect.poll(async () => (await overdue.status()).status, WITHIN).toBe('failed')
    await expect.poll(() => [...failed].sort(), WITHIN).toEqual(Object.keys(SPECS).sort())
    const { findings } = await engine.doctor()
    const failing = findings.find(({ type }) => type === 'failing_schedules')
    expect(failing?.message).toContain(`${Object.keys(SPECS).length} schedules`)
    expect((await engine.schedules.list()).map(({ name }) => name)).toEqual(
      [...Object.keys(SPECS), 'infinite', 'sound'].sort(),
    )
    // Putting it again mends it.
    await engine.schedules.put('nothing', { every: '1s', workflow: ticked, overlap: 'allow' })
    await expect
      .poll(async () => (await engine.schedules.history('nothing'))[0]?.status, WITHIN)
      .toBe('started')
  })
})
