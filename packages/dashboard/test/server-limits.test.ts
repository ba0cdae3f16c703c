import { beforeAll, describe, expect, test } from 'vitest'
import type { LimitPage, LimitsPage } from '../src/api/limits.ts'
import type { ActionResult, Problem, RunsPage } from '../src/api.ts'
import type { DashboardHandler } from '../src/index.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { type Limited, limited } from './setup/limits.ts'
import { HOSTILE } from './setup/waiting.ts'

const ACTIONS = 'limits/payments/actions'

describe('limits', () => {
  let at: Limited
  let handler: DashboardHandler
  beforeAll(async () => {
    at = await limited({ isShared: true })
    handler = opened({ engine: at.worker })
  })
  const act = async (body: object) => (await (await post(handler, ACTIONS, body)).json()) as ActionResult

  test('stand with their lines, the longest first, and who waits first', async () => {
    const { limits, more } = await read<LimitsPage>(handler, 'limits')
    expect(limits).toMatchObject([
      {
        name: 'payments',
        slots: 2,
        inUse: 4,
        waiting: 5,
        more: false,
        changes: [],
        lines: [
          { key: 'acme', inUse: 2, waiting: 4, first: { since: expect.any(Number) } },
          { key: HOSTILE, inUse: 2, waiting: 1 },
        ],
      },
    ])
    expect(more).toBe(false)
    const { first } = limits[0]!.lines[0]!
    const line = { waitingFor: { limit: 'payments', key: 'acme' } } as const
    const waiting = await at.worker.runs.list(line)
    expect(waiting.find(({ id }) => id === first!.runId)?.key).toBe(first!.runKey)
    expect(first!.runKey).toMatch(/^charge:/)
    const one = await read<LimitPage>(handler, 'limits/payments')
    expect(one).toEqual(limits[0])
    const { runs } = await read<RunsPage>(handler, 'runs?waits=payments')
    expect(runs).toHaveLength(5)
  })

  test.each([
    ['[]', 400],
    ['{"action":"set","dryRun":false,"limit":3}', 400],
    ['{"action":"set","dryRun":false,"limit":-1,"reason":"x"}', 400],
    ['{"action":"set","dryRun":false,"limit":"3","reason":"x"}', 400],
    ['{"action":"set","dryRun":false,"limit":100001,"reason":"x"}', 400],
    ['{"action":"set","dryRun":false,"limit":3,"reason":"x","by":"root"}', 400],
    ['{"action":"reset","dryRun":false,"limit":3,"reason":"x"}', 400],
    ['{"action":"constructor","dryRun":false,"reason":"x"}', 400],
    ['{"action":"set","dryRun":true}', 400],
    ['{"action":"set","dryRun":true,"limit":3,"perMs":5}', 400],
  ])('the body %s changes nothing', async (body, status) => {
    const response = await post(handler, ACTIONS, body)
    expect(response.status).toBe(status)
    expect(((await response.json()) as Problem).message).toMatch(/\.$/)
    expect((await at.worker.limits.get('payments'))?.set).toBeUndefined()
  })

  test('what is not allowed here changes nothing', async () => {
    const body = { action: 'set', dryRun: false, limit: 0, reason: 'x' }
    const others = opened({ engine: at.worker }, ['runs.cancel', 'schedules.pause'])
    const answers = [
      await post(opened({ engine: at.worker, authorize: () => null }), ACTIONS, body),
      await post(others, ACTIONS, body),
      await post(others, ACTIONS, { ...body, dryRun: true }),
      await post(handler, ACTIONS, body, { origin: 'https://evil.example' }),
      await post(handler, ACTIONS, body, { 'x-belay': null }),
      await get(handler, ACTIONS),
      await post(handler, 'limits/none/actions', body),
      await post(handler, 'limits/%E0%A4%A/actions', body),
      await get(handler, 'limits', { method: 'DELETE' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 403, 403, 403, 405, 404, 404, 405])
    expect((await at.worker.limits.get('payments'))?.set).toBeUndefined()
  })

  test('a change is foreseen, made, told with its reason, and taken back', async () => {
    expect(await act({ action: 'set', dryRun: true, limit: 3 })).toEqual({
      changed: true,
      sentence:
        'It allows 2 slots, and would allow 3 slots for each key, at once and on all workers. What runs goes on: 4 in use, 5 in line. This would last until it is reset.',
    })
    expect((await at.worker.limits.get('payments'))?.set).toBeUndefined()

    const changed = await act({ action: 'set', dryRun: false, limit: 3, reason: 'the bank allows it' })
    expect(changed).toEqual({
      changed: true,
      sentence: 'It allowed 2 slots and now allows 3 slots for each key.',
    })
    expect((await at.worker.limits.get('payments'))?.set).toBe(3)
    const page = await read<LimitPage>(handler, 'limits/payments')
    expect(page).toMatchObject({
      slots: 3,
      declared: 2,
      changes: [{ by: 'ada', reason: 'the bank allows it', sentence: changed.sentence }],
    })
    expect(await act({ action: 'set', dryRun: false, limit: 3, reason: 'again' })).toMatchObject({
      changed: false,
    })
    expect(await act({ action: 'reset', dryRun: false, reason: 'done' })).toMatchObject({ changed: true })
    expect((await at.worker.limits.get('payments'))?.set).toBeUndefined()
  })
})
