import type { Claim, NewValue } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { compensated, failed, KEYS_MAX, retry, told, toldBy } from '../scenario/index.ts'

export const valueCases: Cases = {
  'a run has the latest value of each key, and the latest progress of each step': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [one, other] = await worker.claimsOf(run, 's0', 's1')
    const publish = (...values: readonly NewValue[]) =>
      given.adapter.publish({ workerId: worker.id, values, keysMax: KEYS_MAX })

    expect(await given.adapter.readValues(run.id)).toEqual([])
    const results = await publish(
      told(one!, 'url', '"a"'),
      told(one!, null, '{"done":1}', { sequence: 2 }),
      told(other!, null, '{"done":7}'),
      told(other!, 'left', '3', { sequence: 2 }),
    )
    expect(results).toEqual(['stored', 'stored', 'stored', 'stored'])
    await publish(told(one!, 'url', '"b"', { sequence: 3 }))

    expect(await toldBy(run)).toEqual([
      'progress of s0: {"done":1}',
      'progress of s1: {"done":7}',
      'left of s1: 3',
      'url of s0: "b"',
    ])
    expect(await given.adapter.readValues(run.id)).toEqual((await run.read()).values)
    expect(await given.adapter.readValues(given.ids.runId())).toBeNull()
  },

  'a value that is sent again, or arrives late, never replaces a newer one': async (given) => {
    const run = await given.loose(1)
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 's0')
    const publish = (value: string, sequence: number) =>
      given.adapter.publish({
        workerId: worker.id,
        values: [told(claim, 'k', value, { sequence })],
        keysMax: KEYS_MAX,
      })

    await publish('1', 1)
    await publish('2', 2)

    expect(await publish('1', 1)).toEqual(['stored'])
    expect(await publish('"other text"', 2)).toEqual(['stored'])
    expect(await toldBy(run)).toEqual(['k of s0: 2'])
  },

  'of one key that several steps give, the value counts that was given last, in whichever order they arrive':
    async (given) => {
      const run = await given.loose(2)
      const worker = await given.worker()
      const [one, other] = await worker.claimsOf(run, 's0', 's1')
      await given.advance(1_000)
      const publish = (...values: readonly NewValue[]) =>
        given.adapter.publish({ workerId: worker.id, values, keysMax: KEYS_MAX })

      await publish(told(one!, 'k', '"newer"', { ageMs: 100 }))
      await publish(told(other!, 'k', '"older"', { ageMs: 900 }))
      expect(await toldBy(run)).toEqual(['k of s0: "newer"'])

      await given.advance(10)
      await publish(told(other!, 'k', '"newest"', { sequence: 2 }))
      await publish(told(one!, 'k', '"newer"', { ageMs: 110 }))
      expect(await toldBy(run)).toEqual(['k of s1: "newest"'])
    },

  'a value is never older than its attempt: no clock puts it behind one of an earlier step': async (
    given,
  ) => {
    const run = await given.pair()
    const worker = await given.worker()
    const publish = async (step: string, value: string, ageMs: number) =>
      given.adapter.publish({
        workerId: worker.id,
        values: [told(await worker.claimOf(run, step), 'k', value, { ageMs })],
        keysMax: KEYS_MAX,
      })
    await publish('a', '"first"', 0)
    await given.advance(5)
    await worker.complete(run, 'a')
    await publish('b', '"second"', 3_600_000)

    expect(await toldBy(run)).toEqual(['k of b: "second"'])
  },

  'an attempt that lost its step changes nothing': async (given) => {
    const run = await given.loose(1)
    const zombie = await given.worker()
    const old = await zombie.claimOf(run, 's0')
    await given.expireLeases()
    await given.sweep()
    const late = (claim: Claim, workerId: string) =>
      given.adapter.publish({
        workerId,
        values: [told(claim, 'k', '"late"', { sequence: 9 })],
        keysMax: 3,
      })

    expect(await late(old, zombie.id)).toEqual(['lost'])
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 's0')
    expect(await late(old, zombie.id)).toEqual(['lost'])
    expect(await late(old, worker.id)).toEqual(['lost'])
    expect(await late(claim, zombie.id)).toEqual(['lost'])
    expect(await toldBy(run)).toEqual([])

    expect(await late(claim, worker.id)).toEqual(['stored'])
    await worker.complete(run, 's0')
    expect(await late(claim, worker.id)).toEqual(['lost'])
    expect(await late({ ...claim, runId: given.ids.runId() }, worker.id)).toEqual(['lost'])
  },

  'values stay when a step is tried again, until its next attempt gives others': async (given) => {
    const run = await given.loose(1)
    const worker = await given.worker()
    const publish = async (value: string) =>
      given.adapter.publish({
        workerId: worker.id,
        values: [told(await worker.claimOf(run, 's0'), 'k', value)],
        keysMax: KEYS_MAX,
      })
    await publish('"first try"')
    await worker.settle([retry(await worker.claimOf(run, 's0'), 0)])
    expect(await toldBy(run)).toEqual(['k of s0: "first try"'])

    await publish('"second try"')

    expect(await toldBy(run)).toEqual(['k of s0: "second try"'])
  },

  'steps of paused and stopped runs may publish, and undos too': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    const publish = async (step: string, value: string) =>
      given.adapter.publish({
        workerId: worker.id,
        values: [told(await worker.claimOf(run, step), 'k', value)],
        keysMax: KEYS_MAX,
      })
    await worker.claimOf(run, 'b')
    await given.operate(run).pause()
    expect(await publish('b', '"paused"')).toEqual(['stored'])
    await given.operate(run).resume()
    await given.cancel(run)
    await given.advance(1)
    expect(await publish('b', '"stopped"')).toEqual(['stored'])
    await worker.settle([failed(await worker.claimOf(run, 'b'))])
    await given.undo(run)
    await given.advance(1)
    expect(await publish('a', '"undo"')).toEqual(['stored'])
    await worker.settle([compensated(await worker.claimOf(run, 'a'))])

    expect(await toldBy(run)).toEqual(['k of a: "undo"'])
  },

  'a run has no more keys than allowed, and its other values are stored': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [one, other] = await worker.claimsOf(run, 's0', 's1')
    const publish = (...values: readonly NewValue[]) =>
      given.adapter.publish({ workerId: worker.id, values, keysMax: 2 })

    expect(await publish(told(one!, 'a', '1'), told(one!, null, '{"done":1}'))).toEqual(['stored', 'stored'])
    const results = await publish(
      told(other!, 'b', '2'),
      told(other!, 'c', '3'),
      told(other!, 'a', '4', { ageMs: -1 }),
      told(one!, 'b', '5'),
    )

    expect(results).toEqual(['stored', 'too_many', 'stored', 'stored'])
    expect((await toldBy(run)).filter((line) => line.startsWith('c'))).toEqual([])
  },

  'a value that the store can never store is refused alone': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [one, other] = await worker.claimsOf(run, 's0', 's1')

    const results = await given.adapter.publish({
      workerId: worker.id,
      values: [told(one!, 'bad', '{not json'), told(other!, 'good', '1')],
      keysMax: KEYS_MAX,
    })

    expect(results).toEqual([{ refused: expect.any(String) }, 'stored'])
    expect(await toldBy(run)).toEqual(['good of s1: 1'])
  },
}
