import { define, defineGraph, unchecked } from '@belay/workflow'
import { expect, it } from 'vitest'
import { engines, StoppableClock } from './bench-of-engines.ts'

const customer = unchecked<{ customer: string }>()

/** Notes how many handlers are under way at once, by key. */
function overlaps() {
  const under = new Map<string, number>()
  const most = new Map<string, number>()
  return {
    most,
    async of<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
      under.set(key, (under.get(key) ?? 0) + 1)
      most.set(key, Math.max(most.get(key) ?? 0, under.get(key)!))
      try {
        return await work()
      } finally {
        under.set(key, under.get(key)! - 1)
      }
    },
  }
}

it('no more attempts of a step run at once than its limit says, on all workers together', async () => {
  const { clock, worker } = engines()
  const noted = overlaps()
  const workflow = define('limited', { version: 1 }).step('charge', {
    concurrency: { limit: 2 },
    run: () => noted.of('', () => new Promise<void>((resolve) => void clock.after(1_000, resolve))),
  })
  const one = await worker({ workflows: [workflow] })
  await worker({ workflows: [workflow] })

  const runs = await Promise.all(Array.from({ length: 7 }, () => one.run(workflow)))
  for (const run of runs) await clock.runUntil(run.result())

  expect(noted.most).toEqual(new Map([['', 2]]))
})

it('keys have limits of their own', async () => {
  const { clock, worker } = engines()
  const noted = overlaps()
  const workflow = define('limited', { version: 1, input: customer }).step('charge', {
    concurrency: { key: ({ input }) => input.customer, limit: 1 },
    run: ({ input }) =>
      noted.of(input.customer, () => new Promise<void>((resolve) => void clock.after(1_000, resolve))),
  })
  const engine = await worker({ workflows: [workflow] })
  const began = clock.now()

  const large = await Promise.all(
    Array.from({ length: 20 }, () => engine.run(workflow, { customer: 'large' })),
  )
  const small = await engine.run(workflow, { customer: 'small' })
  await clock.runUntil(small.result())

  expect(clock.now() - began).toBeLessThan(2_000)
  for (const run of large) await clock.runUntil(run.result())
  expect(noted.most).toEqual(
    new Map([
      ['large', 1],
      ['small', 1],
    ]),
  )
})

it('a run takes its slot with its first step, and frees it when it has ended, its undo included', async () => {
  const { clock, worker } = engines()
  const order: string[] = []
  const workflow = define('limited', {
    version: 1,
    input: customer,
    concurrency: { limit: 1, key: ({ input }) => input.customer },
  })
    .step('reserve', {
      run: ({ input }) => void order.push(`reserve ${input.customer}`),
      compensate: ({ input }) => void order.push(`undo ${input.customer}`),
    })
    .step('charge', {
      dependsOn: ['reserve'],
      retry: false,
      run: ({ input }) => {
        order.push(`charge ${input.customer}`)
        throw new Error('declined')
      },
    })
  const engine = await worker({ workflows: [workflow] })

  const runs = await Promise.all([0, 1].map(() => engine.run(workflow, { customer: 'acme' })))
  for (const run of runs) await clock.runUntil(run.result().catch(() => {}))

  const each = ['reserve acme', 'charge acme', 'undo acme']
  expect(order).toEqual([...each, ...each])
})

it('steps of several workflows share a limit that has a name', async () => {
  const { clock, worker } = engines()
  const noted = overlaps()
  const step = {
    concurrency: { name: 'stripe', limit: 1 },
    run: () => noted.of('', () => new Promise<void>((resolve) => void clock.after(100, resolve))),
  }
  const [one, other] = [
    define('one', { version: 1 }).step('charge', step),
    define('other', { version: 1 }).step('refund', step),
  ]
  const engine = await worker({ workflows: [one, other] })

  const runs = await Promise.all([engine.run(one), engine.run(other), engine.run(one)])
  for (const run of runs) await clock.runUntil(run.result())

  expect(noted.most).toEqual(new Map([['', 1]]))
})

it('the items of maps and the rounds of loops enter limits one by one', async () => {
  const { clock, worker } = engines()
  const noted = overlaps()
  const wait = () => new Promise<void>((resolve) => void clock.after(100, resolve))
  const workflow = define('limited', { version: 1 })
    .map('resize', {
      over: () => ['a', 'b', 'a', 'b', 'a'],
      concurrency: { name: 'resize', limit: 1, key: ({ item }) => item },
      run: ({ item }) => noted.of(item, wait),
    })
    .repeat('poll', {
      concurrency: { name: 'poll', limit: 1 },
      run: () => noted.of('poll', wait),
      until: ({ round }) => round === 3,
    })
  const engine = await worker({ workflows: [workflow] })

  const runs = await Promise.all([engine.run(workflow), engine.run(workflow)])
  for (const run of runs) await clock.runUntil(run.result())

  expect([...noted.most.values()]).toEqual([1, 1, 1])
})

it('a transactional step enters before its transaction begins', async () => {
  const { clock, worker } = engines()
  const noted = overlaps()
  const workflow = define('limited', { version: 1 }).step('charge', {
    concurrency: { limit: 1 },
    transaction: true,
    run: () => noted.of('', () => new Promise<void>((resolve) => void clock.after(100, resolve))),
  })
  const engine = await worker({ workflows: [workflow] })

  const runs = await Promise.all([1, 2, 3].map(() => engine.run(workflow)))
  for (const run of runs) await clock.runUntil(run.result())

  expect(noted.most).toEqual(new Map([['', 1]]))
})

it('a step retries without its slot: others go on meanwhile', async () => {
  const { clock, worker } = engines()
  const order: string[] = []
  const workflow = define('limited', { version: 1, input: customer }).step('charge', {
    concurrency: { limit: 1 },
    retry: { retries: 1, initial: '10s', jitter: false },
    run: ({ input, attempt }) => {
      order.push(`${input.customer} ${attempt}`)
      if (input.customer === 'failing' && attempt === 1) throw new Error('try again')
    },
  })
  const engine = await worker({ workflows: [workflow] })

  const failing = await engine.run(workflow, { customer: 'failing' })
  const other = await engine.run(workflow, { customer: 'other' })
  for (const run of [failing, other]) await clock.runUntil(run.result())

  expect(order).toEqual(['failing 1', 'other 1', 'failing 2'])
})

it.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['a number', 7],
  ['a long text', 'x'.repeat(10_000)],
  ['NUL', 'a\0b'],
  ['half of a surrogate pair', '\ud800'],
  ['a Date', new Date(0)],
])('a key that is %s fails the step, and says so', async (_, key) => {
  const { clock, worker } = engines()
  const workflow = define('limited', { version: 1 }).step('charge', {
    concurrency: { limit: 1, key: () => key as string },
    run: () => 'done',
  })
  const engine = await worker({ workflows: [workflow] })

  const run = await engine.run(workflow)

  await expect(clock.runUntil(run.result())).rejects.toThrow(
    /key of limit "limited.charge" returned for step "charge"/,
  )
})

it('a graph as data names the functions of its keys', async () => {
  const { clock, worker } = engines()
  const noted = overlaps()
  const workflow = defineGraph(
    'limited',
    {
      input: customer,
      concurrency: { limit: 1, key: 'customerOf' },
      steps: { charge: { handler: 'charge', concurrency: { limit: 5 } } },
      dag: {},
    },
    {
      customerOf: ({ input }) => (input as { customer: string }).customer,
      charge: ({ input }) =>
        noted.of(
          (input as { customer: string }).customer,
          () => new Promise<void>((resolve) => void clock.after(100, resolve)),
        ),
    },
  )
  const engine = await worker({ workflows: [workflow] })

  const runs = await Promise.all(['a', 'a', 'b'].map((name) => engine.run(workflow, { customer: name })))
  for (const run of runs) await clock.runUntil(run.result())

  expect(noted.most).toEqual(
    new Map([
      ['a', 1],
      ['b', 1],
    ]),
  )
})

it('a worker that dies while it holds a slot does not keep it', async () => {
  const { clock, adapter, worker } = engines()
  const own = new StoppableClock(clock)
  let calls = 0
  const workflow = define('limited', { version: 1 }).step('charge', {
    concurrency: { limit: 1 },
    run: () => {
      calls += 1
      if (calls > 1) return 'done'
      own.stop()
      return new Promise<never>(() => {})
    },
  })
  const dying = await worker({ workflows: [workflow], clock: own })
  const run = await dying.run(workflow)
  await clock.advance(1_000)
  const other = await worker({ workflows: [workflow] })
  const next = await other.run(workflow)

  for (const each of [other.runs.handle(run.id), next]) {
    expect(await clock.runUntil(each.result())).toEqual({ charge: 'done' })
  }

  expect(await adapter.readLimits()).toMatchObject([{ inUse: 0, waiting: 0 }])
})
