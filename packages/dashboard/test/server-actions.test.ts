import { randomUUID } from 'node:crypto'
import type { RunSnapshot } from '@belay/workflow'
import { beforeAll, describe, expect, test } from 'vitest'
import { bank } from '../../cli/test/setup/fulfil-order.ts'
import type { ActionRequest, ActionResult, Problem, RunPage } from '../src/api.ts'
import type { DashboardHandler } from '../src/index.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { fulfilOrder, type Key, type Shop, shop } from './setup/shop.ts'

interface Case {
  readonly key: Key
  readonly action: Omit<ActionRequest, 'dryRun' | 'reason'>
  readonly capability: string
  readonly foreseen: RegExp
}

const CASES: readonly Case[] = [
  {
    key: 'order:9182',
    action: { verb: 'cancel' },
    capability: 'runs.cancel',
    foreseen: /would be cancelled/,
  },
  { key: 'order:9182', action: { verb: 'pause' }, capability: 'runs.pause', foreseen: /would be paused/ },
  { key: 'order:9182', action: { verb: 'resume' }, capability: 'runs.pause', foreseen: /nothing to change/ },
  {
    key: 'order:9184',
    action: { verb: 'retry' },
    capability: 'runs.retry',
    foreseen: /would go forward again/,
  },
  {
    key: 'order:9182',
    action: { verb: 'setPriority', priority: 7 },
    capability: 'runs.priority',
    foreseen: /priority is 0, and would be 7/,
  },
  {
    key: 'order:9184',
    action: { verb: 'retryStep', step: 'bookCourier' },
    capability: 'steps.retry',
    foreseen: /no open step/,
  },
  {
    key: 'order:9182',
    action: { verb: 'skipStep', step: 'shipped', payload: '{}' },
    capability: 'steps.skip',
    foreseen: /Nothing is foretold/,
  },
  {
    key: 'order:9185',
    action: { verb: 'retryCompensation', step: 'chargeCard' },
    capability: 'undo.retry',
    foreseen: /would be called again/,
  },
  {
    key: 'order:9185',
    action: { verb: 'skipCompensation', step: 'chargeCard' },
    capability: 'undo.skip',
    foreseen: /would be marked as undone/,
  },
  {
    key: 'order:9182',
    action: { verb: 'signal', step: 'shipped', payload: '{"by":"post"}' },
    capability: 'signals.send',
    foreseen: /would go on/,
  },
  {
    key: 'order:9183',
    action: { verb: 'approve', step: 'approveOrder' },
    capability: 'approvals.decide',
    foreseen: /would go on/,
  },
  {
    key: 'order:9183',
    action: { verb: 'reject', step: 'approveOrder' },
    capability: 'approvals.decide',
    foreseen: /would fail/,
  },
]

describe('what must change nothing', () => {
  let at: Shop
  let handler: DashboardHandler
  let before: string

  const path = (key: Key) => `runs/${at.runs[key].id}/actions`
  const stored = async () => {
    const all: unknown[] = []
    for (const { id } of Object.values(at.runs)) {
      const { readAt: _, ...run } = (await at.worker.runs.get(id)) as RunSnapshot
      all.push(run, await at.worker.runs.history(id))
    }
    return JSON.stringify(all)
  }

  beforeAll(async () => {
    at = await shop({ isShared: true })
    handler = opened({ engine: at.engine() })
    before = await stored()
  })

  test.each(CASES)('a dry run of $action.verb', async ({ key, action, foreseen }) => {
    const response = await post(handler, path(key), { ...action, dryRun: true })
    expect(response.status).toBe(200)
    expect(((await response.json()) as ActionResult).sentence).toMatch(foreseen)
    expect(await stored()).toBe(before)
  })

  test.each(CASES)('$action.verb that is not allowed here', async ({ key, action, capability }) => {
    const body = { ...action, dryRun: false, ...(action.verb === 'signal' ? {} : { reason: 'a test' }) }
    const engine = at.engine()
    const others = opened({ engine }, [
      ...new Set(CASES.map((one) => one.capability).filter((one) => one !== capability)),
    ] as never)
    const nobody = opened({ engine, authorize: () => null })
    const large = JSON.stringify({ ...body, more: 'r'.repeat(65_536) })
    const answers = [
      await post(nobody, path(key), body),
      await post(others, path(key), body),
      await post(handler, path(key), body, { origin: 'https://evil.example' }),
      await post(handler, path(key), body, { origin: null }),
      await post(handler, path(key), body, { 'sec-fetch-site': 'same-site' }),
      await post(handler, path(key), body, { 'x-belay': null }),
      await get(handler, path(key)),
      await get(handler, path(key), { method: 'DELETE' }),
      await post(handler, path(key), large),
      await post(handler, path(key), body, { 'content-type': 'text/plain' }),
      await post(handler, path(key), body, { 'content-type': 'application/x-www-form-urlencoded' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([
      401, 403, 403, 403, 403, 403, 405, 405, 413, 415, 415,
    ])
    expect(answers[6]!.headers.get('allow')).toBe('POST')
    expect(await stored()).toBe(before)
  })

  test.each([
    ['[]'],
    ['null'],
    ['{'],
    [''],
    ['{"verb":"cancel","dryRun":false}'],
    ['{"verb":"cancel","dryRun":false,"reason":"  "}'],
    ['{"verb":"cancel","dryRun":"no","reason":"x"}'],
    ['{"verb":"cancel","dryRun":false,"reason":"x","by":"root"}'],
    ['{"verb":"cancel","dryRun":false,"reason":"x","__proto__":{"a":1}}'],
    ['{"verb":"constructor","dryRun":false,"reason":"x"}'],
    ['{"verb":"__proto__","dryRun":false,"reason":"x"}'],
    ['{"verb":"skipStep","dryRun":false,"reason":"x"}'],
    ['{"verb":"skipStep","dryRun":false,"reason":"x","step":{"a":1}}'],
    ['{"verb":"skipStep","dryRun":false,"reason":"x","step":"nobody"}'],
    [`{"verb":"skipStep","dryRun":false,"reason":"x","step":"${'s'.repeat(700)}"}`],
    ['{"verb":"signal","dryRun":false,"step":"shipped","payload":"{"}'],
    ['{"verb":"signal","dryRun":false,"step":"shipped","payload":"[9007199254740993]"}'],
    ['{"verb":"skipStep","dryRun":false,"reason":"x","step":"shipped","payload":"1e400"}'],
    ['{"verb":"signal","dryRun":false,"step":"checkFraud","payload":"1"}'],
    ['{"verb":"signal","dryRun":false,"reason":"x","step":"shipped","payload":"1"}'],
    ['{"verb":"setPriority","dryRun":false,"reason":"x","priority":1001}'],
    ['{"verb":"setPriority","dryRun":false,"reason":"x","priority":"7"}'],
    [`{"verb":"pause","dryRun":false,"reason":"${'r'.repeat(2_001)}"}`],
  ])('the body %.80s', async (body) => {
    const response = await post(handler, path('order:9182'), body)
    expect(response.status).toBe(400)
    expect(((await response.json()) as Problem).message).toMatch(/\.$/)
    expect(await stored()).toBe(before)
  })

  test.each([
    'x',
    '%00',
    '..%2f..%2fetc%2fpasswd',
    "1'%20or%20'1'='1",
    '%E0%A4%A',
    'a'.repeat(2_000),
    randomUUID(),
  ])('the id %.40s', async (id) => {
    const response = await post(handler, `runs/${id}/actions`, { verb: 'pause', dryRun: false, reason: 'x' })
    expect([400, 404]).toContain(response.status)
    for (const read of ['', '/items?map=packItem', '/payloads', '/rows']) {
      expect([400, 404], read).toContain((await get(handler, `runs/${id}${read}`)).status)
    }
    expect(await stored()).toBe(before)
  })

  test('a refusal is an answer', async () => {
    const refused = {
      changed: false,
      refused: 'action_refused',
      sentence: expect.stringMatching(/cannot be paused/),
    }
    for (const dryRun of [true, false]) {
      const body = { verb: 'pause', dryRun, reason: 'a test' }
      const response = await post(handler, path('order:9184'), body)
      expect([response.status, await response.json()]).toEqual([200, refused])
    }
    expect(await stored()).toBe(before)
  })
})

describe('actions', () => {
  test('change the run as who was authorized, and the next read shows it', async () => {
    const at = await shop()
    const handler = opened({ engine: at.engine({ workflows: [] }) })
    const act = async (key: Key, action: Partial<ActionRequest>) => {
      const path = `runs/${at.runs[key].id}/actions`
      const reason = action.verb === 'signal' ? {} : { reason: 'as agreed' }
      const response = await post(handler, path, { dryRun: false, ...reason, ...action })
      return (await response.json()) as ActionResult
    }
    const page = (key: Key) => read<RunPage>(handler, `runs/${at.runs[key].id}`)
    const changed = (sentence: RegExp) => ({ changed: true, sentence: expect.stringMatching(sentence) })
    await page('order:9182')

    expect(await act('order:9182', { verb: 'pause' })).toEqual(
      changed(/^It was waiting and is now paused\.$/),
    )
    const paused = await page('order:9182')
    expect(paused.run.status).toBe('paused')
    expect(paused.history).toMatchObject([
      { action: 'pause', by: 'ada', reason: 'as agreed', change: 'running → paused' },
    ])
    expect(await act('order:9182', { verb: 'resume' })).toEqual(changed(/is now waiting/))
    expect(await act('order:9182', { verb: 'setPriority', priority: 7 })).toEqual(changed(/now 7/))
    expect((await page('order:9182')).priority).toBe(7)
    expect(await act('order:9182', { verb: 'setPriority', priority: 7 })).toMatchObject({ changed: false })
    const signal = { verb: 'signal', step: 'shipped', payload: '{"by":"secret courier"}' } as const
    expect(await act('order:9182', signal)).toEqual(changed(/^Delivered: .* nobody checks a payload\.$/))
    await at.runs['order:9182'].result()
    expect(JSON.stringify((await page('order:9182')).history)).not.toContain('secret')

    expect(await act('order:9183', { verb: 'reject', step: 'approveOrder' })).toEqual(changed(/^Delivered/))
    await at.runs['order:9183'].result().catch(() => {})
    expect((await page('order:9183')).history).toMatchObject([
      { action: 'signal', step: 'approveOrder', by: 'ada', change: 'rejected' },
    ])
    expect(await act('order:9183', { verb: 'approve', step: 'approveOrder' })).toMatchObject({
      changed: false,
    })

    bank.refunds = 'open'
    const retry = { verb: 'retryCompensation', step: 'chargeCard' } as const
    expect(await act('order:9185', retry)).toEqual(changed(/"chargeCard" was compensation_failed/))
    await expect
      .poll(async () => (await at.worker.runs.get(at.runs['order:9185'].id))?.status)
      .toBe('compensated')
    // Steps before it were undone: it cannot be skipped before they run again.
    const skip = { verb: 'skipStep', step: 'bookCourier', payload: '"by hand"' } as const
    expect(await act('order:9184', skip)).toMatchObject({ changed: false, refused: 'action_refused' })
    expect(await act('order:9184', { verb: 'retry' })).toEqual(changed(/^It was compensated and is now/))
  })

  test('a parked undo is skipped, and an approval is given once', async () => {
    const at = await shop()
    const handler = opened({ engine: at.engine() })
    const act = async (key: Key, action: object) =>
      (
        await post(handler, `runs/${at.runs[key].id}/actions`, {
          dryRun: false,
          reason: 'done by hand',
          ...action,
        })
      ).json()
    const skipStep = { verb: 'skipStep', step: 'shipped', payload: '{"by":"hand"}' }
    expect(await act('order:9182', skipStep)).toEqual({
      changed: true,
      sentence: '"shipped" was waiting and is now skipped.',
    })
    expect(await at.runs['order:9182'].result()).toMatchObject({ shipped: { by: 'hand' } })
    const skip = { verb: 'skipCompensation', step: 'chargeCard' }
    expect(await act('order:9185', skip)).toMatchObject({ changed: true })
    expect(await act('order:9185', skip)).toMatchObject({ changed: false, refused: 'action_refused' })
    const approve = { verb: 'approve', step: 'approveOrder' }
    expect(await act('order:9183', approve)).toMatchObject({ changed: true })
    expect(await act('order:9183', approve)).toMatchObject({
      changed: false,
      sentence: expect.stringMatching(/sent before/),
    })
    expect(await act('order:9183', { verb: 'reject', step: 'approveOrder' })).toMatchObject({
      changed: false,
      refused: 'decision_conflict',
    })
    expect(await act('order:9184', { verb: 'retryStep', step: 'bookCourier' })).toMatchObject({
      changed: true,
    })
    const startAt = new Date(Date.now() + 3_600_000)
    const { id } = await at.worker.run(fulfilOrder, { items: [] }, { startAt })
    const cancel = { verb: 'cancel', dryRun: false, reason: 'not wanted' }
    expect(await (await post(handler, `runs/${id}/actions`, cancel)).json()).toMatchObject({
      changed: true,
      sentence: expect.stringMatching(/^It was scheduled and is now/),
    })
  })
})
