import {
  BelayError,
  define,
  type PruneOptions,
  type RunsFilter,
  type RunsToCount,
  stepStates,
} from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const one = define('one', { version: 1 }).step('a', { run: () => 1 })
const two = define('two', { version: 1 }).step('a', { run: () => 1 })

/** Four runs of two workflows, alternating, each created a minute after the one before. The first two completed, ten seconds after their start. */
async function fourRuns() {
  const { clock, engine, worker } = engines()
  const working = await worker({ workflows: [one, two] })
  const ids: string[] = []
  for (const workflow of [one, two]) {
    const run = await working.run(workflow, undefined, { delay: '10s' })
    ids.push(run.id)
    await clock.runUntil(run.result(), { limit: '1m' })
    await clock.advance('50s')
  }
  await clock.runUntil(working.stop({ timeout: 0 }), { limit: '1m' })
  const made = engine()
  for (const workflow of [one, two]) {
    ids.push((await made.run(workflow, undefined)).id)
    await clock.advance('1m')
  }
  const createdAt = await Promise.all(ids.map(async (id) => (await made.runs.get(id))!.createdAt))
  return { made, ids, createdAt: createdAt as [Date, Date, Date, Date] }
}

describe('finding runs', () => {
  it('by when they were created or ended: a Date, a text with an offset, or epoch milliseconds', async () => {
    const { made, ids, createdAt } = await fourRuns()
    const find = async (filter: RunsFilter) => (await made.runs.list(filter)).map(({ id }) => ids.indexOf(id))
    const [, second, third] = createdAt

    expect(await find({ createdAfter: second })).toEqual([3, 2, 1])
    expect(await find({ createdAfter: second.toISOString() })).toEqual([3, 2, 1])
    expect(await find({ createdAfter: second.getTime(), createdBefore: third })).toEqual([1])
    expect(await find({ finishedAfter: second })).toEqual([1])
    expect(await find({ finishedBefore: second })).toEqual([0])
    expect(await find({ createdBefore: third, workflow: 'two' })).toEqual([1])
  })

  it('of several workflows, and with several statuses', async () => {
    const { made, ids } = await fourRuns()
    const find = async (filter: RunsFilter) => (await made.runs.list(filter)).map(({ id }) => ids.indexOf(id))

    expect(await find({ workflow: ['one', 'two'], status: ['completed', 'running'] })).toEqual([3, 2, 1, 0])
    expect(await find({ workflow: ['one', 'none'], status: 'completed' })).toEqual([0])
  })

  it('by version, and by how their ids begin, with or without dashes', async () => {
    const { made, ids } = await fourRuns()
    const newer = define('one', { version: 2 }).step('b', { run: () => 1 })
    const { id } = await made.run(newer, undefined)
    const found = async (filter: RunsFilter) => (await made.runs.list(filter)).map((run) => run.id)

    expect(await found({ version: 2 })).toEqual([id])
    expect(await found({ version: 1, workflow: 'one' })).toEqual([ids[2], ids[0]])
    for (const idPrefix of [id, id.replaceAll('-', ''), id.toUpperCase()]) {
      expect(await found({ idPrefix })).toEqual([id])
    }
    expect(await made.runs.count({ idPrefix: id.slice(0, 1) })).toEqual({ count: 5, capped: false })
    for (const idPrefix of ['', '-', 'xyz', `${id}0`]) {
      await expect(made.runs.list({ idPrefix })).rejects.toThrow(
        /runs\.list\(\): idPrefix .*the first 1 to 32 hex digits of an id/,
      )
    }
  })

  it('page by page in both directions', async () => {
    const { made, ids } = await fourRuns()
    const page = async (filter: RunsFilter) =>
      (await made.runs.list({ ...filter, limit: 2 })).map(({ id }) => ids.indexOf(id))

    expect(await page({})).toEqual([3, 2])
    expect(await page({ before: ids[2]! })).toEqual([1, 0])
    expect(await page({ after: ids[1]! })).toEqual([3, 2])
    expect(await page({ after: ids[0]! })).toEqual([2, 1])
    expect(await page({ after: ids[3]! })).toEqual([])
    await expect(page({ before: ids[3]!, after: ids[0]! })).rejects.toThrow(
      'runs.list(): give before or after, not both.',
    )
  })

  it('with the states of their steps, a map as counts, and the instant at which they were read', async () => {
    const { clock, worker } = engines()
    const mapped = define('mapped', { version: 1 })
      .step('first', { run: () => 1, retry: { attempts: 7 } })
      .map('pack', {
        dependsOn: ['first'],
        over: () => [1, 2],
        run: ({ item }) => item,
        retry: { attempts: 2 },
      })
      .approval('decide', { dependsOn: ['pack'] })
      .step('last', { dependsOn: ['decide'], run: () => 1 })
    const working = await worker({ workflows: [mapped] })
    const run = await working.run(mapped, undefined)
    await clock.advance('5s')

    const [listed] = await working.runs.list({ steps: true })

    const all = { items: 2, ended: 2, statuses: { completed: 2 } }
    expect(listed!.steps).toEqual([
      { name: 'first', kind: 'work', status: 'completed', items: undefined },
      { name: 'pack', kind: 'map', status: 'completed', items: all },
      { name: 'decide', kind: 'approval', status: 'waiting', items: undefined },
      { name: 'last', kind: 'work', status: 'pending', items: undefined },
    ])
    const got = (await working.runs.get(run.id))!
    expect(stepStates(got)).toEqual(listed!.steps)
    expect(got.readAt.getTime() - got.createdAt.getTime()).toBe(5_000)
    expect(listed!.readAt).toEqual(got.readAt)
    expect(got.steps.map(({ name, kind, attemptsMax }) => [name, kind, attemptsMax])).toEqual([
      ['first', 'work', 7],
      ['pack[]', 'map', 2],
      ['pack', 'map', 4],
      ['decide', 'approval', 4],
      ['last', 'work', 4],
      ['pack[0]', 'work', 2],
      ['pack[1]', 'work', 2],
    ])
    await expect(working.runs.list({ steps: true, limit: 101 })).rejects.toThrow(
      'runs.list(): with steps, limit must be a whole number from 1 to 100, got 101.',
    )
  })

  it('tells how often a step may fail only where its definition is known', async () => {
    const { engine, worker } = engines()
    await worker({ workflows: [one] })
    const run = await engine().run(one, undefined)
    const other = engine()

    expect((await other.runs.get(run.id))!.steps[0]).toMatchObject({ kind: 'work', attemptsMax: undefined })
  })

  it('limits a bulk action to the runs of a time range', async () => {
    const { made, ids, createdAt } = await fourRuns()

    const cancelled = await made.runs.cancelMany({ createdBefore: createdAt[3], workflow: ['one', 'two'] })

    expect(cancelled).toMatchObject({ matched: 1, runIds: [ids[2]] })
  })

  it('counts them, up to a limit, together and by status', async () => {
    const { made, createdAt } = await fourRuns()

    expect(await made.runs.count()).toEqual({ count: 4, capped: false })
    expect(await made.runs.count({ max: 3 })).toEqual({ count: 3, capped: true })
    expect(await made.runs.count({ status: 'completed', createdAfter: createdAt[1] })).toEqual({
      count: 1,
      capped: false,
    })
    expect(await made.runs.countByStatus({ workflow: ['one', 'two'] })).toEqual({
      completed: { count: 2, capped: false },
      running: { count: 2, capped: false },
    })
    expect(await made.runs.countByStatus({ max: 1, workflow: 'one' })).toEqual({
      completed: { count: 1, capped: false },
      running: { count: 1, capped: false },
    })
    expect(await made.runs.countByStatus({ workflow: 'none' })).toEqual({})
  })

  it.each<[string, unknown, RegExp]>([
    ['a condition that is undefined', { key: undefined }, /key is undefined, and would match everything/],
    ['tags that are undefined', { tags: undefined }, /tags is undefined/],
    ['no tags', { tags: [] }, /tags must be an array of 1 to 20 .*; got an empty array/],
    ['a tag alone', { tags: 'a' }, /tags must be an array of 1 to 20 .*; got "a"/],
    ['no workflows', { workflow: [] }, /workflow must be .*; got an empty array/],
    ['no statuses', { status: [] }, /status must be .*; got an empty array/],
    ['an unknown status', { status: ['runing'] }, /status must be .*; got "runing".*Did you mean "running"/],
    ['a name like toString', { status: 'toString' }, /status must be .*; got "toString"/],
    ['an unknown name', { tag: ['a'] }, /no option "tag".*"tags"/],
    ['a number', 5, /must be an object.*got 5/],
    ['null', null, /must be an object.*got null/],
    ['a time without an offset', { createdAfter: '2026-03-01T09:00' }, /createdAfter must be an instant/],
    [
      'seconds',
      { createdAfter: 1_767_225_600 },
      /createdAfter must be an instant .* epoch milliseconds since 1973; got 1767225600/,
    ],
    ['not a number', { finishedBefore: Number.NaN }, /finishedBefore must be an instant.*; got NaN/],
    [
      'an invalid Date',
      { createdBefore: new Date('x') },
      /createdBefore must be an instant.*; got an invalid Date/,
    ],
    [
      'an empty range',
      { createdAfter: '2026-03-02T00:00:00Z', createdBefore: '2026-03-02T00:00:00Z' },
      /createdAfter must be earlier than createdBefore/,
    ],
    ['a key with NUL', { key: 'a\0' }, /key must be a string/],
    [
      'a workflow with NUL',
      { workflow: ['a\0'] },
      /workflow must be a string.*; got a string with NUL in it at index 0/,
    ],
    ['a workflow that is a number', { workflow: 7 }, /workflow must be a string.*; got 7/],
  ])('refuses a filter that may be a mistake, in every method: %s', async (_what, filter, why) => {
    const { engine } = engines()
    const { runs } = engine()
    const asked = [
      runs.list(filter as RunsFilter),
      runs.count(filter as RunsToCount),
      runs.countByStatus(filter as RunsToCount),
      ...[runs.cancelMany, runs.pauseMany, runs.resumeMany, runs.retryMany].map((act) =>
        act.call(runs, filter as RunsFilter, {}),
      ),
    ]

    for (const answer of await Promise.allSettled(asked)) {
      const error = answer.status === 'rejected' ? answer.reason : undefined
      expect(BelayError.is(error) && `${error.code}: ${error.message}`).toMatch(why)
      expect(error.code).toBe('invalid_option')
    }
  })

  it.each([
    [{ workflow: undefined }, /workflow is undefined/],
    [{ tags: undefined }, /tags is undefined/],
    [{ tags: [] }, /tags must be an array of 1 to 20 .*; got an empty array/],
    [{ workflow: [] }, /workflow must be .*; got an empty array/],
  ])('refuses to prune or to release keys with %j, which could mean every run', async (condition, why) => {
    const { engine } = engines()
    const made = engine()
    const options = { olderThan: '1d', ...condition } as PruneOptions
    for (const act of [() => made.prune(options), () => made.runs.releaseKeys(options)]) {
      await expect(act()).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(why),
      })
    }
  })

  it('accepts a list of runs to act on, but not to list or count', async () => {
    const { engine } = engines()
    const { runs } = engine()
    const list = [] as unknown as RunsFilter
    for (const asked of [runs.list(list), runs.count(list), runs.countByStatus(list)]) {
      await expect(asked).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/must be an object.*got an empty array/),
      })
    }
  })

  it.each([0, 1_000_001, 1.5, Number.NaN, null, '10'])('refuses to count up to %s', async (max) => {
    const { engine } = engines()
    const given = { max } as RunsToCount
    for (const count of [engine().runs.count(given), engine().runs.countByStatus(given)]) {
      await expect(count).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/max must be a whole number from 1 to 1000000/),
      })
    }
  })
})
