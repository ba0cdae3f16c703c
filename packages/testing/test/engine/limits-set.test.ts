import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { engines, gate } from './bench-of-engines.ts'

/** A worker with a limited step whose handlers wait for a gate. */
async function bench(limit: number) {
  const { clock, adapter, worker } = engines()
  const held = gate()
  let begun = 0
  const workflow = define('limited', { version: 1 }).step('charge', {
    concurrency: { name: 'stripe', limit },
    run: async () => {
      begun += 1
      await held.passed
    },
  })
  const engine = await worker({ workflows: [workflow] })
  return { clock, adapter, worker, engine, workflow, held, begun: () => begun }
}

it('a number that is set goes before that in the code, at once, and a reset goes back', async () => {
  const { clock, engine, workflow, held, begun } = await bench(1)
  const runs = await Promise.all(Array.from({ length: 5 }, () => engine.run(workflow)))
  await clock.advance(100)
  expect(begun()).toBe(1)

  expect(await engine.limits.set('stripe', 3)).toEqual({
    ...{ name: 'stripe', concurrency: 3, declared: 1, set: 3 },
  })

  await clock.advance(1_000)
  expect(begun()).toBe(3)
  expect(await engine.limits.reset('stripe')).toMatchObject({ concurrency: 1, set: undefined })
  expect(await engine.limits.get('stripe')).toMatchObject({ concurrency: 1, inUse: 3, waiting: 2 })
  held.open()
  for (const run of runs) await clock.runUntil(run.result())
  expect(await engine.limits.list()).toMatchObject([{ name: 'stripe', inUse: 0, waiting: 0 }])
})

it('a step that waits for a slot tells for which, and where it stands', async () => {
  const { clock, engine, workflow, held } = await bench(1)
  const [first, , third] = await Promise.all([1, 2, 3].map(() => engine.run(workflow)))
  await clock.advance(100)

  const { steps } = await third!.explain()

  expect(steps).toMatchObject([{ step: 'charge', reason: 'limit' }])
  expect(steps[0]!.sentence).toMatch(
    /for a slot of limit "stripe", of which 1 of 1 is taken; it is number 2 in the line\./,
  )
  held.open()
  await clock.runUntil(first!.result())
})

it('the doctor finds a limit that is set to 0 while steps wait for it', async () => {
  const { clock, engine, workflow, held } = await bench(1)
  await engine.limits.set('stripe', { concurrency: 0 })
  const run = await engine.run(workflow)
  await clock.advance(100)

  const { findings } = await engine.doctor()

  expect(findings).toMatchObject([{ type: 'closed_limit', limit: 'stripe', waiting: 1 }])
  await engine.limits.reset('stripe')
  held.open()
  await clock.runUntil(run.result())
  expect((await engine.doctor()).healthy).toBe(true)
})

it.each([-1, 1.5, Number.NaN, '5', null, {}, { limit: 5 }, 1e9, 10n])(
  'a number like %s is refused',
  async (wrong) => {
    const { engine } = await bench(1)

    await expect(engine.limits.set('stripe', wrong as never)).rejects.toMatchObject({
      code: 'invalid_option',
    })
  },
)

it('a limit that no worker has declared cannot be set, and the nearest one is named', async () => {
  const { engine } = await bench(1)

  await expect(engine.limits.set('strip', 5)).rejects.toThrow(/no worker has declared.*Did you mean "stripe"/)
  await expect(engine.limits.set('', 5)).rejects.toMatchObject({ code: 'invalid_option' })
  await expect(engine.limits.reset('a\0b')).rejects.toMatchObject({ code: 'invalid_option' })
  expect(await engine.limits.get('strip')).toBeUndefined()
})

it('two workflows that declare different numbers for one name are refused', async () => {
  const { engine } = engines()
  const step = (limit: number) => ({ concurrency: { name: 'stripe', limit }, run: () => {} })
  const workflows = [
    define('one', { version: 1 }).step('a', step(1)),
    define('other', { version: 1 }).step('a', step(2)),
  ]

  await expect(engine({ workflows }).start()).rejects.toThrow(
    /Limit "stripe" is 1 in workflow "one" and 2 in workflow "other"/,
  )
})

it.each([
  [{ limit: 0 }, /concurrency.limit is 0, and must be a whole number from 1/],
  [{ limit: '5' }, /concurrency.limit/],
  [{ limit: 1, key: 'customer' }, /concurrency.key is "customer", and must be a function/],
  [{ limit: 1, name: '' }, /concurrency.name/],
  [{ limit: 1, keys: 5 }, /Did you mean "key"/],
  [5, /concurrency is 5, and must be an object with limit, key, name/],
  [[], /concurrency has 0 limits/],
  [[{ limit: 1 }, { limit: 2 }], /two of its limits have the name "limited.charge"/],
])('a limit like %j is refused when it is defined', (concurrency, message) => {
  expect(() =>
    define('limited', { version: 1 }).step('charge', { concurrency: concurrency as never, run: () => {} }),
  ).toThrow(message)
})
