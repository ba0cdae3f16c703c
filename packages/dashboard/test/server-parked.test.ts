import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Repair } from '../src/api/many.ts'
import type { NeedsPage } from '../src/api/needs.ts'
import type { ParkedPage } from '../src/api/parked.ts'
import type { Overview } from '../src/api.ts'
import type { DashboardHandler } from '../src/index.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { HOSTILE, type Parked, parked, refunds } from './setup/parked.ts'

const page = (handler: DashboardHandler) => read<ParkedPage>(handler, 'parked')

describe('parked undos', () => {
  let at: Parked
  let handler: DashboardHandler
  beforeAll(async () => {
    at = await parked(7, { items: true, isShared: true })
    handler = opened({ engine: at.worker })
  })

  test('stand by their cause, those with the most runs first', async () => {
    const { groups, runs, read: done, more, actions, readAt } = await page(handler)
    expect({ runs, done, more }).toEqual({ runs: { count: 9, capped: false }, done: 9, more: false })
    const [orders, parcels, hostile] = groups
    expect(orders).toMatchObject({
      ...{ workflow: 'order', version: 3, step: 'charge', repairs: 'charge', undos: 7 },
      error: 'PermanentError: refunds are closed',
      attempts: [1, 1],
      // The charge that failed, and the reservation that waits for it.
      remain: 14,
    })
    expect(orders!.runs).toHaveLength(7)
    expect(orders!.examples.map(({ key }) => key)).toHaveLength(5)
    expect(orders!.examples[0]).toMatchObject({ step: 'charge', remain: 2 })
    expect(orders!.examples[0]!.steps.map(({ status }) => status)).toEqual([
      'compensating',
      'compensation_failed',
      'failed',
    ])
    expect(orders!.times.reduce((sum, count) => sum + count)).toBe(7)
    expect(orders!.since).toBeLessThanOrEqual(orders!.last)
    expect(orders!.last).toBeLessThanOrEqual(readAt)
    expect([parcels, hostile].map((one) => one!.runs.length)).toEqual([1, 1])
    expect(actions).toEqual([
      { verb: 'retryCompensation', denied: false },
      { verb: 'skipCompensation', denied: false },
    ])
  })

  test('of items stand together, each with the name that repairs it', async () => {
    const { groups } = await page(handler)
    const group = groups.find(({ workflow }) => workflow === 'parcels')!
    expect(group).toMatchObject({ step: 'each', undos: 2, remain: 2, runs: [at.ids['parcels:1']] })
    expect(group.repairs).toBeUndefined()
    expect(group.examples.map(({ step }) => step)).toEqual(['each[0]', 'each[2]'])
  })

  test('without payloads.read errors are told by name and code: then they are one cause', async () => {
    const other = opened({ engine: at.worker }, ['undo.retry'])
    const { groups, actions } = await page(other)
    expect(groups.map(({ error, runs }) => [error, runs.length])).toEqual([
      ['PermanentError [REFUND_CLOSED]', 8],
      ['PermanentError [REFUND_CLOSED]', 1],
    ])
    expect(actions.map(({ denied }) => denied)).toEqual([false, true])
    expect(JSON.stringify(groups)).not.toContain('refunds are closed')
  })

  test('takes no query and no other method', async () => {
    for (const path of ['parked', 'needs']) {
      expect((await get(handler, `${path}?workflow=order`)).status).toBe(400)
      expect((await get(handler, path, { method: 'DELETE' })).status).toBe(405)
    }
  })

  test('are counted with what needs a person, and are none of the other findings', async () => {
    expect(await read<Overview>(handler, 'overview')).toMatchObject({
      parkedUndos: { count: 9 },
      findings: 2,
      otherFindings: 0,
    })
    expect((await read<NeedsPage>(handler, 'needs')).findings).toEqual([])
  })

  test('are read once while they stay as they are, and once more after a write', async () => {
    const getRun = vi.spyOn(at.worker.runs, 'get')
    const own = opened({ engine: at.worker })
    const other = opened({ engine: at.worker }, [])
    await page(own)
    // A map of which items are parked is read with them.
    expect(getRun).toHaveBeenCalledTimes(10)
    const before = (await page(own)).readAt
    await vi.waitFor(async () => expect((await page(own)).readAt).toBeGreaterThan(before), 20_000)
    expect(getRun).toHaveBeenCalledTimes(10)
    // Its call is refused again: the step's state is the same, its attempt is not.
    const id = at.ids[HOSTILE]!
    const body = { verb: 'retryCompensation', step: 'charge', dryRun: false, reason: 'once more' }
    expect((await post(own, `runs/${id}/actions`, body)).status).toBe(200)
    await vi.waitFor(async () => {
      const group = (await page(own)).groups.find(({ error }) => error.includes(HOSTILE))
      expect(group?.attempts).toEqual([2, 2])
    }, 20_000)
    expect((await page(other)).groups).toHaveLength(2)
    getRun.mockRestore()
  })

  test('a repair of a group changes its runs, and the inbox tells who settled the last', async () => {
    const { groups } = await page(handler)
    refunds.open = true
    for (const { repairs, runs, examples } of groups) {
      for (const step of repairs === undefined ? examples.map((one) => one.step) : [repairs]) {
        const asked = await post(handler, 'repairs', { verb: 'retryCompensation', runs, step })
        const { id } = (await asked.json()) as Repair
        const state = async () => (await read<Repair>(handler, `repairs/${id}`)).state
        await vi.waitFor(async () => expect(await state()).toBe('counted'), 20_000)
        await post(handler, `repairs/${id}/actions`, { action: 'begin', reason: 'the bank is open' })
        await vi.waitFor(async () => expect(await state()).toBe('done'), 20_000)
      }
    }
    await vi.waitFor(async () => {
      const { runs, groups: left, settled } = await page(handler)
      expect({ runs, left }).toEqual({ runs: { count: 0, capped: false }, left: [] })
      expect(settled).toMatchObject({
        ...{ action: 'retry_compensation', by: 'ada', reason: 'the bank is open' },
        run: { status: 'compensated' },
      })
    }, 20_000)
  })
})

test('of many, the first answer comes before all are read', async () => {
  const at = await parked(220)
  const handler = opened({ engine: at.worker })
  const first = await page(handler)
  expect([first.runs.count, first.read]).toEqual([221, 200])
  await vi.waitFor(async () => expect((await page(handler)).read).toBe(221), 20_000)
}, 60_000)
