import { define } from '@belay/workflow'
import { type Adapter, StoreContendedError, StoreUnavailableError } from '@belay/workflow/adapter'
import { expect, it } from 'vitest'
import { changed, engines } from './bench-of-engines.ts'

const simple = define('simple', { version: 1 }).step('note', { run: () => null })

/** A worker whose store has these verbs while it is in trouble. */
async function troubled(verbs: (store: Adapter) => Partial<Adapter>) {
  const { clock, adapter, worker } = engines()
  const state = { isTroubled: false }
  const store: Adapter = changed(
    adapter,
    Object.fromEntries(
      Object.entries(verbs(adapter)).map(([verb, refusing]) => [
        verb,
        (...given: never[]) =>
          ((state.isTroubled ? refusing : adapter[verb as keyof Adapter]) as (...given: never[]) => unknown)(
            ...given,
          ),
      ]),
    ),
  )
  const engine = await worker({ workflows: [simple], adapter: store })
  const statuses = async (name: string) =>
    (await engine.schedules.history(name, { limit: 100 })).map(({ status }) => status)
  return { clock, engine, state, statuses }
}

it('a hundred schedules that the store refuses hold up no other, and fire once it accepts them', async () => {
  const { clock, engine, state, statuses } = await troubled((store) => ({
    async changeSchedules(request) {
      if (request.names.some((name) => name.startsWith('bad')))
        throw new StoreUnavailableError('The disk is full.', { answered: true })
      return store.changeSchedules(request)
    },
  }))
  const names = Array.from({ length: 100 }, (_, n) => `bad-${n}`)
  await engine.schedules.putMany(names.map((name) => ({ name, every: '5m', workflow: simple }) as const))
  await engine.schedules.put('good', { every: '1s', workflow: simple, overlap: 'allow' })
  state.isTroubled = true

  await clock.advance('7m')

  const seconds = await engine.runs.count({ workflow: 'simple', tags: ['schedule:good'] })
  expect(seconds.count).toBeGreaterThan(390)
  expect((await engine.doctor()).findings).toContainEqual(
    expect.objectContaining({ type: 'late_schedules', message: expect.stringMatching(/^100 schedules/) }),
  )
  state.isTroubled = false
  await clock.advance('65s')
  for (const name of names) expect(await statuses(name)).toEqual(['started'])
  expect((await engine.doctor()).findings).toEqual([])
})

it('a firing whose definition cannot be read because of a lock is tried again', async () => {
  const { clock, engine, state, statuses } = await troubled(() => ({
    findDefinition: () => Promise.reject(new StoreContendedError('Somebody has locked the table.')),
  }))
  await engine.schedules.put('s', { every: '5m', workflow: simple })
  state.isTroubled = true

  await clock.advance('7m')

  expect(await statuses('s')).toEqual([])
  state.isTroubled = false
  await clock.advance('65s')
  expect(await statuses('s')).toEqual(['started'])
})
