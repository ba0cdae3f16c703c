import { define } from '@belay/workflow'
import { type Adapter, StoreContendedError, StoreUnavailableError } from '@belay/workflow/adapter'
import { expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const simple = define('simple', { version: 1 }).step('note', { run: () => null })

/** A worker whose store can be brought into trouble: then it has other verbs, until it is sound again. */
async function fragile() {
  const { clock, adapter, worker } = engines()
  const { changeSchedules, findDefinition } = adapter
  const sound: Partial<Adapter> = { changeSchedules, findDefinition }
  const engine = await worker({ workflows: [simple] })
  const statuses = async (name: string) =>
    (await engine.schedules.history(name, { limit: 100 })).map(({ status }) => status)
  const become = (verbs: Partial<Adapter>) => void Object.assign(adapter, verbs)
  return { clock, engine, statuses, trouble: become, recover: () => become(sound), changeSchedules }
}

it('a hundred schedules that the store refuses hold up no other, and fire once it accepts them', async () => {
  const { clock, engine, statuses, trouble, recover, changeSchedules } = await fragile()
  const names = Array.from({ length: 100 }, (_, n) => `bad-${n}`)
  await engine.schedules.putMany(names.map((name) => ({ name, every: '5m', workflow: simple }) as const))
  await engine.schedules.put('good', { every: '1s', workflow: simple, overlap: 'allow' })
  trouble({
    async changeSchedules(request) {
      if (request.names.some((name) => name.startsWith('bad')))
        throw new StoreUnavailableError('The disk is full.', { answered: true })
      return changeSchedules(request)
    },
  })

  await clock.advance('7m')

  const seconds = await engine.runs.count({ workflow: 'simple', tags: ['schedule:good'] })
  expect(seconds.count).toBeGreaterThan(390)
  expect((await engine.doctor()).findings).toContainEqual(
    expect.objectContaining({ type: 'late_schedules', message: expect.stringMatching(/^100 schedules/) }),
  )
  recover()
  await clock.advance('65s')
  for (const name of names) expect(await statuses(name)).toEqual(['started'])
  expect((await engine.doctor()).findings).toEqual([])
})

it('a firing whose definition cannot be read because of a lock is tried again', async () => {
  const { clock, engine, statuses, trouble, recover } = await fragile()
  await engine.schedules.put('s', { every: '5m', workflow: simple })
  trouble({
    findDefinition: () => Promise.reject(new StoreContendedError('Somebody has locked the table.')),
  })

  await clock.advance('7m')

  expect(await statuses('s')).toEqual([])
  recover()
  await clock.advance('65s')
  expect(await statuses('s')).toEqual(['started'])
})
