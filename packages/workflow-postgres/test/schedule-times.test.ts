import { createEngine, define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { postgres } from '../src/index.ts'
import { createDatabase, servers } from './setup/database.ts'

it('fires a schedule by distance at the times that it has stored, and misses none', async () => {
  const database = await createDatabase(servers[0]!.url)
  const adapter = postgres(database.pool)
  const ticked = define('ticked', { version: 1 }).step('note', { run: () => null })
  const engine = createEngine({ adapter, workflows: [ticked], tick: '50ms' })
  try {
    await adapter.migrate()
    await engine.start()
    // Several: the clock of a database has microseconds, and each may be rounded up or down.
    const names = Array.from({ length: 8 }, (_, index) => `tick ${index}`)
    for (const name of names)
      await engine.schedules.put(name, { every: '1s', workflow: ticked, overlap: 'allow', catchUp: 'all' })

    const firings = () => Promise.all(names.map((name) => engine.schedules.history(name)))
    await expect
      .poll(async () => (await firings()).every(({ length }) => length > 0), { timeout: 20_000 })
      .toBe(true)

    const all = (await firings()).flat()
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['started']))
    expect(new Set(all.map(({ runId }) => runId)).size).toBe(all.length)
  } finally {
    await engine.close({ timeout: 0 })
    await database.drop()
  }
})
