import { randomUUID } from 'node:crypto'
import type { BulkOptions, Engine, RunsToChange } from '@belay/workflow'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Bulk } from '../src/actions/bulk.ts'
import type { Repair, RepairRequest, RepairsPage } from '../src/api/many.ts'
import type { Problem } from '../src/api.ts'
import type { DashboardHandler } from '../src/index.ts'
import { RepairInHand } from '../src/repairs/in-hand.ts'
import { Repairs } from '../src/repairs/repairs.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { type Jobs, job2, jobs } from './setup/jobs.ts'

const FAILED = 'workflow=job&status=failed'
const RETRY: RepairRequest = { verb: 'retry', query: FAILED }

async function asked(handler: DashboardHandler, request: RepairRequest): Promise<Repair> {
  const response = await post(handler, 'repairs', request)
  expect(response.status).toBe(200)
  return (await response.json()) as Repair
}

/** Read until it has that state. */
function once(handler: DashboardHandler, id: string, state: Repair['state']): Promise<Repair> {
  return vi.waitFor(async () => {
    const repair = await read<Repair>(handler, `repairs/${id}`)
    expect(repair.state).toBe(state)
    return repair
  }, 20_000)
}

async function counted(handler: DashboardHandler, request: RepairRequest): Promise<Repair> {
  return once(handler, (await asked(handler, request)).id, 'counted')
}

const begin = (handler: DashboardHandler, id: string, reason = 'the mail server is back') =>
  post(handler, `repairs/${id}/actions`, { action: 'begin', reason })
const stop = (handler: DashboardHandler, id: string) =>
  post(handler, `repairs/${id}/actions`, { action: 'stop' })
const problem = async (response: Response) => ({
  status: response.status,
  ...((await response.json()) as Problem),
})

/** Holds each change of many runs after that many of them, until it is let go. */
function holding(engine: Engine, after: number) {
  const original = engine.runs.retryMany.bind(engine.runs)
  let letGo = () => {}
  const free = new Promise<void>((resolve) => {
    letGo = resolve
  })
  vi.spyOn(engine.runs, 'retryMany').mockImplementation((runs: RunsToChange, options: BulkOptions = {}) =>
    original(runs, {
      ...options,
      onProgress: async (progress) => {
        await options.onProgress?.(progress)
        if (options.dryRun !== true && progress.matched === after) await free
      },
    }),
  )
  return letGo
}

describe('what changes nothing', () => {
  let at: Jobs
  let handler: DashboardHandler
  let ids: readonly string[]
  const stored = async () => {
    const all: unknown[] = []
    for (const id of ids) {
      const { readAt: _, ...run } = (await at.worker.runs.get(id))!
      all.push(run, await at.worker.runs.history(id))
    }
    return JSON.stringify(all)
  }

  beforeAll(async () => {
    at = await jobs({ single: 4, children: 1 }, { isShared: true })
    handler = opened({ engine: at.engine(), workflows: [job2] })
    ids = (await at.worker.runs.list({ limit: 100 })).map(({ id }) => id)
  })

  const VERBS: readonly (readonly [RepairRequest, string])[] = [
    [{ verb: 'cancel', query: 'workflow=idle' }, 'runs.cancel'],
    [{ verb: 'pause', query: 'workflow=idle' }, 'runs.pause'],
    [{ verb: 'resume', query: 'workflow=idle' }, 'runs.pause'],
    [{ verb: 'retry', query: FAILED }, 'runs.retry'],
    [{ verb: 'retryCompensation', query: FAILED, step: 'send' }, 'undo.retry'],
    [{ verb: 'skipCompensation', query: FAILED, step: 'send' }, 'undo.skip'],
    [{ verb: 'setPriority', query: 'workflow=idle', priority: 7 }, 'runs.priority'],
    [{ verb: 'move', query: 'workflow=job', version: 2 }, 'runs.move'],
  ]

  test.each(VERBS)('%#: the dry run, and whoever lacks the capability', async (request, capability) => {
    const before = await stored()
    const repair = await counted(handler, request)
    expect(repair.sentence).toMatch(/Nothing has been changed\.$/)
    expect(repair).toMatchObject({ by: 'ada', denied: false, asked: request })
    expect(repair.begun).toBeUndefined()
    expect(await stored()).toBe(before)
    const all = VERBS.map(([, one]) => one).filter((one) => one !== capability)
    const other = opened({ engine: at.engine() }, [...new Set(all)] as never)
    expect(await problem(await post(other, 'repairs', request))).toMatchObject({
      status: 403,
      message: expect.stringContaining(capability),
    })
  })

  test('a viewer without the capability reads the repair of another, and neither begins nor stops it', async () => {
    let can: 'all' | [] = 'all'
    const changing = opened({ engine: at.engine(), authorize: () => ({ by: 'ada', can }) })
    const { id } = await counted(changing, RETRY)
    can = []
    expect(await read<Repair>(changing, `repairs/${id}`)).toMatchObject({ state: 'counted', denied: true })
    for (const act of [begin, stop]) expect((await act(changing, id)).status).toBe(403)
    expect(await read<Repair>(changing, `repairs/${id}`)).toMatchObject({ state: 'counted' })
  })

  test.each([
    ['another method', () => get(handler, 'repairs', { method: 'DELETE' }), 405],
    ['another method on one', () => get(handler, `repairs/${randomUUID()}`, { method: 'POST' }), 405],
    ['a read of its actions', () => get(handler, `repairs/${randomUUID()}/actions`), 405],
    ['a query', () => get(handler, 'repairs?all=true'), 400],
    ['another site', () => post(handler, 'repairs', RETRY, { origin: 'https://evil.example' }), 403],
    ['no header of its own', () => post(handler, 'repairs', RETRY, { 'x-belay': null }), 403],
    ['a form', () => post(handler, 'repairs', RETRY, { 'content-type': 'text/plain' }), 415],
    ['an unknown repair', () => get(handler, `repairs/${randomUUID()}`), 404],
    ['the beginning of an unknown one', () => begin(handler, randomUUID()), 404],
    ['a name of an object', () => get(handler, 'repairs/__proto__'), 404],
  ])('%s is refused', async (_, call, status) => {
    expect((await call()).status).toBe(status)
  })

  const some = [randomUUID()]
  test.each([
    [null],
    [[]],
    ['retry'],
    [{}],
    [{ verb: 'retry' }],
    [{ verb: 'retry', query: '' }],
    [{ verb: 'retry', query: 'statos=failed' }],
    [{ verb: 'retry', query: 'status=fialed' }],
    [{ verb: 'retry', query: 'version=1&version=2' }],
    [{ verb: 'retry', query: 'before=x' }],
    [{ verb: 'retry', query: `key=${'k'.repeat(700)}` }],
    [{ verb: 'retry', query: '__proto__=1' }],
    [{ verb: 'retry', all: false }],
    [{ verb: 'retry', all: true, query: FAILED }],
    [{ verb: 'retry', runs: [] }],
    [{ verb: 'retry', runs: ['x'] }],
    [{ verb: 'retry', runs: Array(1_001).fill(some[0]) }],
    [{ verb: 'retry', runs: some, by: 'eve' }],
    [{ verb: 'retry', runs: some, step: 'send' }],
    [{ verb: 'retry', insteadIn: 'x' }],
    [{ verb: 'retryStep', runs: some }],
    [{ verb: 'toString', runs: some }],
    [{ verb: 'retryCompensation', runs: some }],
    [{ verb: 'setPriority', runs: some, priority: 1_001 }],
    [{ verb: 'move', runs: some, version: 0 }],
    [{ verb: 'move', runs: some, version: 2 }],
    [{ verb: 'move', query: 'status=failed', version: 2 }],
    [{ verb: 'move', query: 'workflow=job', version: 3 }],
  ])('the wrong body %# is refused', async (body) => {
    const before = (await read<RepairsPage>(handler, 'repairs')).repairs.length
    expect((await post(handler, 'repairs', body)).status).toBe(400)
    expect((await read<RepairsPage>(handler, 'repairs')).repairs.length).toBe(before)
  })

  test.each([
    [{ action: 'begin' }],
    [{ action: 'begin', reason: ' ' }],
    [{ action: 'begin', reason: 7 }],
    [{ action: 'begin', reason: 'r'.repeat(2_001) }],
    [{ action: 'begin', reason: 'x', by: 'eve' }],
    [{ action: 'stop', reason: 'x' }],
    [{ action: 'end' }],
    [null],
  ])('the wrong action %# is refused', async (body) => {
    const before = await stored()
    const { id } = await counted(handler, RETRY)
    expect((await post(handler, `repairs/${id}/actions`, body)).status).toBe(400)
    expect(await read<Repair>(handler, `repairs/${id}`)).toMatchObject({ state: 'counted' })
    expect(await stored()).toBe(before)
  })

  test('a move needs a definition, which the host gives', async () => {
    const without = opened({ engine: at.engine() })
    const answer = await post(without, 'repairs', { verb: 'move', query: 'workflow=job', version: 2 })
    expect((await problem(answer)).message).toMatch(/no definition of job v2.*gives them as workflows/)
  })

  test('what is no sentence of the engine is told only to those who may read payloads', async () => {
    const engine = at.engine()
    const [why, runIds] = ['invalid JSON: {"card": 4711}', [ids[0]!]]
    const refusals = [{ why, refusal: undefined, remedy: undefined, code: undefined, runIds, instead: [] }]
    const found = { matched: 1, changed: 0, runIds: [], refused: [], refusals, unknown: [], more: false }
    vi.spyOn(engine.runs, 'retryMany').mockResolvedValue(found)
    const reads = ['payloads.read', 'runs.retry'] as const
    for (const [can, told] of [
      [reads, expect.stringContaining(why)],
      [reads.slice(1), expect.stringContaining('you lack payloads.read')],
    ] as const) {
      const repair = await counted(opened({ engine }, can), RETRY)
      expect(repair.refusals).toMatchObject([{ why: told, count: 1, runs: [{ id: ids[0] }] }])
    }
  })

  test('an id that names no run is counted as such', async () => {
    const repair = await counted(handler, { verb: 'retry', runs: some })
    expect(repair.found).toEqual({ matched: 0, changed: 0, refused: 0, unknown: 1 })
    expect((await problem(await begin(handler, repair.id))).message).toBe('There is nothing to change.')
  })

  test('of too many at once the last is refused', async () => {
    const engine = at.engine()
    vi.spyOn(engine.runs, 'retryMany').mockReturnValue(new Promise(() => {}))
    const busy = opened({ engine })
    for (let n = 0; n < 8; n += 1) await asked(busy, RETRY)
    expect((await post(busy, 'repairs', RETRY)).status).toBe(409)
    expect((await read<RepairsPage>(busy, 'repairs')).repairs).toHaveLength(8)
  })
})

test('the newest 200 are kept for a day: ended ones go before those that were counted, and no others go', async () => {
  vi.useFakeTimers()
  try {
    const found = {
      matched: 1,
      changed: 1,
      runIds: ['1'],
      refused: [],
      refusals: [],
      unknown: [],
      more: false,
    }
    const repairs = new Repairs()
    const add = (bulk: Bulk) => {
      const repair = new RepairInHand(RETRY, 'ada', bulk)
      repairs.add(repair)
      return [repair, repair.count([])] as const
    }
    const [counting] = add(() => new Promise(() => {}))
    const [left, isCounted] = add(async () => found)
    await isCounted
    const failed: RepairInHand[] = []
    vi.spyOn(console, 'error').mockReturnValue()
    for (let n = 0; n < 200; n += 1) {
      const [repair, hasFailed] = add(() => Promise.reject(new Error('x')))
      await hasFailed
      failed.push(repair)
    }
    expect(repairs.list().map(({ id }) => id)).toEqual(
      [...failed.slice(2).reverse(), left, counting].map(({ id }) => id),
    )
    vi.advanceTimersByTime(24 * 3_600_000 + 1)
    expect(repairs.list()).toEqual([counting])
  } finally {
    vi.useRealTimers()
  }
})

test('it counts, names what helps those that are refused, and changes exactly what was counted', async () => {
  const at = await jobs({ single: 6, children: 2 })
  const handler = opened({ engine: at.engine() })
  const repair = await counted(handler, RETRY)
  expect(repair.found).toEqual({ matched: 8, changed: 6, refused: 2, unknown: 0 })
  expect(repair.sentence).toBe('6 runs would be retried, 2 would be refused. Nothing has been changed.')
  const [refusal] = repair.refusals
  expect(refusal).toMatchObject({ count: 2, why: expect.stringMatching(/parent/) })
  expect(refusal!.runs.map(({ workflow }) => workflow)).toEqual(['job', 'job'])
  expect(refusal!.instead.map(({ key }) => key).sort()).toEqual(['batch:0', 'batch:1'])
  expect(repair.instead).toBe(2)
  expect((await begin(handler, repair.id)).status).toBe(200)
  const done = await once(handler, repair.id, 'done')
  expect(done).toMatchObject({
    sentence: '6 runs were retried.',
    done: { matched: 6, changed: 6, refused: 0 },
    begun: { by: 'ada', reason: 'the mail server is back' },
    instead: 2,
  })
  expect(done.runs).toHaveLength(6)
  const [last] = await at.worker.runs.history(done.runs[0]!.id)
  expect(last).toMatchObject({ by: 'ada', reason: 'the mail server is back' })
  const parents = await counted(handler, { verb: 'retry', insteadIn: repair.id })
  expect(parents.found).toMatchObject({ matched: 2, changed: 2 })
  expect(parents.asked.runs).toHaveLength(2)
})

test('two operators: whoever looks sees the progress, and the second is told instead of changing the same runs', async () => {
  const at = await jobs({ single: 5, children: 0 })
  const engine = at.engine()
  const letGo = holding(engine, 2)
  let by = 'ada'
  const handler = opened({ engine, authorize: () => ({ by, can: 'all' }) })
  const [first, second] = [await counted(handler, RETRY), await counted(handler, RETRY)]
  const apart = await counted(handler, { verb: 'retry', query: 'workflow=idle' })
  expect(second.others).toEqual([])
  await begin(handler, first.id)
  by = 'grace'
  const seen = await vi.waitFor(async () => {
    const repair = await read<Repair>(handler, `repairs/${first.id}`)
    expect(repair.done?.matched).toBe(2)
    return repair
  }, 20_000)
  expect(seen).toMatchObject({ state: 'working', sentence: 'ada is changing 5 runs: 2 so far.' })
  const told = await read<Repair>(handler, `repairs/${second.id}`)
  const sentence = 'ada is changing 5 runs, which are retried: 5 of them are also here.'
  expect(told.others).toEqual([{ id: first.id, sentence }])
  expect(await problem(await begin(handler, second.id))).toMatchObject({
    status: 409,
    message: `${sentence} Wait until that repair has ended.`,
  })
  expect(await problem(await begin(handler, first.id))).toMatchObject({
    status: 409,
    message: 'ada has begun it already.',
  })
  expect((await read<Repair>(handler, `repairs/${apart.id}`)).others).toEqual([])
  letGo()
  await once(handler, first.id, 'done')
  expect((await read<Repair>(handler, `repairs/${second.id}`)).others).toEqual([])
})

test('stopped in the middle, the others are as before, and it says by whom', async () => {
  const at = await jobs({ single: 5, children: 0 })
  const engine = at.engine()
  const letGo = holding(engine, 2)
  let by = 'ada'
  const handler = opened({ engine, authorize: () => ({ by, can: 'all' }) })
  const { id } = await counted(handler, RETRY)
  await begin(handler, id)
  await vi.waitFor(async () => {
    expect((await read<Repair>(handler, `repairs/${id}`)).done?.matched).toBe(2)
  }, 20_000)
  by = 'grace'
  await stop(handler, id)
  letGo()
  const stopped = await once(handler, id, 'stopped')
  expect(stopped.sentence).toBe('Stopped by grace. 2 runs were retried. 3 are as before.')
  const histories = await Promise.all(
    (await at.worker.runs.list({ workflow: 'job' })).map((run) => at.worker.runs.history(run.id)),
  )
  expect(histories.filter((history) => history.length > 0)).toHaveLength(2)
  expect((await begin(handler, id)).status).toBe(409)
})

test('when the process closes its engine, the repair says how far it came', async () => {
  const at = await jobs({ single: 5, children: 0 })
  const engine = at.engine()
  const letGo = holding(engine, 2)
  const handler = opened({ engine })
  const { id } = await counted(handler, RETRY)
  await begin(handler, id)
  await vi.waitFor(async () => {
    expect((await read<Repair>(handler, `repairs/${id}`)).done?.matched).toBe(2)
  }, 20_000)
  vi.spyOn(console, 'error').mockReturnValue()
  await engine.close()
  letGo()
  const failed = await once(handler, id, 'failed')
  expect(failed.sentence).toMatch(/^It ended early: .* 2 runs were retried\. .* Count again for the rest\.$/)
  const again = opened({ engine: at.engine() })
  expect((await problem(await get(again, `repairs/${id}`))).message).toMatch(/history of that run/)
})
