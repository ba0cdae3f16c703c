import { define, defineGraph, type Engine, RetryLaterError, unchecked } from '@belay/workflow'
import { expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

/** The most instants in any window of so many milliseconds. */
function mostIn(windowMs: number, instants: readonly number[]): number {
  const sorted = [...instants].sort((one, other) => one - other)
  return Math.max(...sorted.map((from) => sorted.filter((at) => at >= from && at < from + windowMs).length))
}

async function endAll(
  clock: ReturnType<typeof engines>['clock'],
  runs: readonly { result(): Promise<unknown> }[],
): Promise<void> {
  for (const run of runs) await clock.runUntil(run.result(), { limit: '1d' })
}

it('no more attempts begin in a second than the rate says, on four workers, and hardly fewer', async () => {
  const { clock, worker } = engines()
  const began: number[] = []
  const workflow = define('rated', { version: 1 }).step('call', {
    rateLimit: { limit: 20, per: '1s' },
    run: () => void began.push(clock.now()),
  })
  const workers: Engine[] = []
  for (let nth = 0; nth < 4; nth += 1) workers.push(await worker({ workflows: [workflow] }))

  const runs = await Promise.all(Array.from({ length: 200 }, (_, nth) => workers[nth % 4]!.run(workflow)))
  await endAll(clock, runs)

  expect(began).toHaveLength(200)
  // 100 ms too late is in time: 2 attempts.
  expect(mostIn(1_000, began)).toBeLessThanOrEqual(20 + 1 + 2)
  expect(began.at(-1)! - began[0]!).toBeLessThan(11_000)
})

it('a backlog that nobody worked on for an hour does not begin at once', async () => {
  const { clock, engine, worker } = engines()
  const began: number[] = []
  const workflow = define('rated', { version: 1 }).step('call', {
    rateLimit: { limit: 2, per: '1s', burst: 3 },
    run: () => void began.push(clock.now()),
  })
  const starter = engine({ workflows: [workflow] })
  const runs = await Promise.all(Array.from({ length: 20 }, () => starter.run(workflow)))
  await clock.advance('1h')

  await worker({ workflows: [workflow] })
  await endAll(clock, runs)

  expect(mostIn(1_000, began)).toBeLessThanOrEqual(5)
})

it('a 429 pushes back everybody with the same key, and nobody else', async () => {
  const { clock, worker } = engines()
  const began: [string, number][] = []
  const workflow = define('rated', { version: 1, input: unchecked<{ partner: string }>() }).step('call', {
    rateLimit: { name: 'partner', limit: 10, per: '1s', key: ({ input }) => input.partner },
    run: ({ input, attempt }) => {
      began.push([input.partner, clock.now()])
      if (began.length === 1 && attempt === 1) throw new RetryLaterError({ after: '1m', limit: 'partner' })
    },
  })
  const engine = await worker({ workflows: [workflow] })
  const first = clock.now()

  const runs = [await engine.run(workflow, { partner: 'acme' })]
  await clock.advance('1s')
  for (const partner of ['acme', 'acme', 'other']) runs.push(await engine.run(workflow, { partner }))
  await clock.advance('10s')
  expect(await engine.limits.get('partner')).toMatchObject({ pushedBackUntil: expect.any(Date) })
  await endAll(clock, runs)

  const acme = began.filter(([partner]) => partner === 'acme').map(([, at]) => at - first)
  expect(acme).toHaveLength(4)
  expect(acme[1]).toBeGreaterThanOrEqual(60_000)
  expect(began.find(([partner]) => partner === 'other')![1] - first).toBeLessThan(2_000)
})

it('a burst that nobody chose is what begins in 10 ms, also after a change; one that was chosen stays', async () => {
  const { worker } = engines()
  const step = { run: () => {} }
  const usual = define('usual', { version: 1 }).step('call', {
    ...step,
    rateLimit: { limit: 100_000, per: '1s', name: 'usual' },
  })
  const chosen = define('chosen', { version: 1 }).step('call', {
    ...step,
    rateLimit: { limit: 100_000, per: '1s', burst: 3, name: 'chosen' },
  })
  const { limits } = await worker({ workflows: [usual, chosen] })
  const burstOf = async (name: string) => (await limits.get(name))?.rateLimit?.burst

  expect(await burstOf('usual')).toBe(1_000)
  expect(await burstOf('chosen')).toBe(3)
  for (const [limit, burst] of [
    [150, 1],
    [0, 1],
    [5_000, 50],
  ] as const) {
    await limits.set('usual', { rateLimit: { limit, per: '1s' } })
    await limits.set('chosen', { rateLimit: { limit, per: '1s' } })
    expect(await burstOf('usual')).toBe(burst)
    expect(await burstOf('chosen')).toBe(3)
  }
})

it('a rate is changed at run time, and paused with 0', async () => {
  const { clock, worker } = engines()
  let began = 0
  const workflow = define('rated', { version: 1 }).step('call', {
    rateLimit: { name: 'partner', limit: 1, per: '1h' },
    run: () => {
      began += 1
    },
  })
  const engine = await worker({ workflows: [workflow] })
  await engine.limits.set('partner', { rateLimit: { limit: 0, per: '1h' } })
  const runs = await Promise.all(Array.from({ length: 20 }, () => engine.run(workflow)))
  await clock.advance('3h')
  expect(began).toBe(0)
  expect((await engine.doctor()).findings).toMatchObject([{ type: 'closed_limit', limit: 'partner' }])

  await engine.limits.set('partner', { rateLimit: { limit: 10, per: '1s' } })
  await clock.advance('5s')

  expect(began).toBe(20)
  await endAll(clock, runs)
  expect(await engine.limits.reset('partner')).toMatchObject({
    rateLimit: { limit: 1, perMs: 3_600_000, burst: 1 },
    concurrency: undefined,
    set: undefined,
  })
})

it('an explanation says which rate a step waits for, and when it begins', async () => {
  const { clock, worker } = engines()
  const workflow = define('rated', { version: 1 }).step('call', {
    rateLimit: { name: 'partner', limit: 1, per: '1m', key: () => 'acme' },
    run: () => {},
  })
  const engine = await worker({ workflows: [workflow] })
  const runs = [await engine.run(workflow), await engine.run(workflow)]
  await clock.advance('1s')

  const [step] = (await engine.explain(runs[1]!.id))!.steps
  expect(step).toMatchObject({ step: 'call', reason: 'limit' })
  expect(step!.sentence).toContain('its turn under rate limit "partner" of key "acme", 1 per 1 min')

  await clock.advance('58s')
  const [soon] = (await engine.explain(runs[1]!.id))!.steps
  expect(soon).toMatchObject({ until: expect.any(Date) })
  await endAll(clock, runs)
})

it('items of maps, runs, and steps as data begin at rates', async () => {
  const { clock, worker } = engines()
  const began = new Map<string, number[]>()
  const note = (name: string) => {
    began.set(name, [...(began.get(name) ?? []), clock.now()])
  }
  const code = define('code', { version: 1, rateLimit: { limit: 1, per: '10s' } }).map('item', {
    over: () => ['a', 'b', 'c'],
    rateLimit: { limit: 1, per: '1s', key: ({ input: _, item }) => (item === 'a' ? 'a' : 'other') },
    run: ({ item }) => note(item),
  })
  const graph = defineGraph(
    'graph',
    { steps: { call: { handler: 'call', rateLimit: { limit: 1, per: '1m', key: 'keyOf' } } }, dag: {} },
    { call: () => note('call'), keyOf: () => 'one' },
  )
  const engine = await worker({ workflows: [code, graph] })
  const runs = [
    await engine.run(code),
    await engine.run(code),
    await engine.run(graph),
    await engine.run(graph),
  ]
  await endAll(clock, runs)

  const [one, other] = began.get('call')!
  expect(other! - one!).toBeGreaterThanOrEqual(60_000)
  expect(began.get('a')![1]! - began.get('a')![0]!).toBeGreaterThanOrEqual(8_000)
  expect(mostIn(1_000, [...began.get('b')!, ...began.get('c')!])).toBeLessThanOrEqual(2)
})

it('refuses what is no rate, with its name and range', async () => {
  const rated = (rateLimit: unknown) =>
    define('rated', { version: 1 }).step('call', { rateLimit: rateLimit as never, run: () => {} })
  for (const [given, complaint] of [
    [{ limit: 0, per: '1s' }, /rateLimit\.limit is 0, and must be a whole number from 1 to 100000/],
    [{ limit: 1 }, /rateLimit\.per is undefined/],
    [{ limit: 1, per: '1ms' }, /rateLimit\.per is .*from 100ms to 31d/],
    [{ limit: 1, per: '1s', burst: 1.5 }, /rateLimit\.burst is 1\.5/],
    [{ limit: 1, per: '1s', key: 'a' }, /rateLimit\.key is "a"/],
    [{ limit: 1, per: '1s', every: 1 }, /rateLimit .*every/],
    [[], /rateLimit has 0 limits/],
    [100, /rateLimit is 100/],
  ] as const)
    expect(() => rated(given)).toThrow(complaint)
  expect(() => new RetryLaterError({ after: '1s', limit: 5 as never })).toThrow(/limit is 5/)

  const { worker } = engines()
  const engine = await worker({ workflows: [rated({ name: 'partner', limit: 1, per: '1s' })] })
  await expect(engine.limits.set('partner', 5)).rejects.toThrow(/is a rate, which is set with/)
  await expect(engine.limits.set('partner', { rateLimit: { limit: -1, per: '1s' } })).rejects.toThrow(
    /rateLimit\.limit/,
  )
})
