import { beforeAll, describe, expect, test } from 'vitest'
import type { WaitingPage } from '../src/api/waiting.ts'
import type { ActionResult } from '../src/api.ts'
import type { DashboardHandler } from '../src/index.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { EXPENSE, HOSTILE, type Waits, waits } from './setup/waiting.ts'

describe('what waits for somebody', () => {
  let at: Waits
  let handler: DashboardHandler
  beforeAll(async () => {
    at = await waits({ isShared: true })
    handler = opened({ engine: at.worker })
  })

  test('stands by its time limit, with what may be done', async () => {
    const { waits: found, more, readAt } = await read<WaitingPage>(handler, 'waiting')
    expect(found.map(({ kind, step, key }) => [kind, step, key])).toEqual([
      ['signal', 'handedOver', 'parcel:1'],
      ['approval', 'manager', 'expense:1'],
      ['approval', 'finance', 'expense:1'],
      ['approval', 'boss', HOSTILE],
    ])
    const [signal, manager] = found
    expect(signal!.until! - signal!.since).toBe(3_600_000)
    expect(manager!.since).toBeLessThanOrEqual(readAt)
    expect(manager!.actions).toEqual([
      { verb: 'approve', step: 'manager', denied: false },
      { verb: 'reject', step: 'manager', denied: false },
    ])
    expect(more).toBe(false)
  })

  test('is narrowed to a workflow', async () => {
    const { waits: found } = await read<WaitingPage>(handler, 'waiting?workflow=parcel')
    expect(found.map(({ step }) => step)).toEqual(['handedOver'])
    expect((await get(handler, 'waiting?step=x')).status).toBe(400)
    expect((await get(handler, 'waiting', { method: 'DELETE' })).status).toBe(405)
  })

  test('an approval tells what is decided: plain fields of the input, redacted, or only tags', async () => {
    const decided = async (dashboard: DashboardHandler) => {
      const { waits: found } = await read<WaitingPage>(dashboard, 'waiting')
      return found.map((wait) => [wait.step, wait.decided])
    }
    const fields = [
      { name: 'amount', value: '420' },
      { name: 'purpose', value: EXPENSE.purpose },
    ]
    const tags = ['team:4']
    const none = { fields: [], tags: [] }
    expect(await decided(handler)).toEqual([
      ['handedOver', undefined],
      ['manager', { fields, tags }],
      ['finance', { fields, tags }],
      ['boss', none],
    ])
    const blind = opened({ engine: at.worker }, ['approvals.decide'])
    expect((await decided(blind))[1]).toEqual(['manager', { fields: [], tags }])
    const redact = (payload: unknown) => ({ ...Object(payload), purpose: undefined })
    const redacted = opened({ engine: at.worker, redact })
    expect((await decided(redacted))[1]).toEqual(['manager', { fields: [fields[0]], tags }])
    expect(await (await get(blind, 'waiting')).text()).not.toContain('Bern')
  })

  test('says what a viewer may not do', async () => {
    const other = opened({ engine: at.worker }, ['approvals.decide'])
    const { waits: found } = await read<WaitingPage>(other, 'waiting')
    expect(found.map(({ actions }) => actions.map(({ denied }) => denied))).toEqual([
      [true],
      [false, false],
      [false, false],
      [false, false],
    ])
  })

  test('a payload that its schema refuses is told at its place, and nothing is recorded', async () => {
    const send = async (verb: string, step: string, id: string, payload: string) => {
      const reason = verb === 'signal' ? {} : { reason: 'a test' }
      const body = { verb, step, payload, dryRun: false, ...reason }
      return (await (await post(handler, `runs/${id}/actions`, body)).json()) as ActionResult
    }
    const issues = [{ path: 'amount', message: 'Expected a number of euros' }]
    const wrong = { changed: false, refused: 'invalid_input', issues }
    expect(await send('approve', 'manager', at.ids['expense:1'], '{"amount":"7"}')).toMatchObject(wrong)
    expect(await send('signal', 'handedOver', at.ids['parcel:1'], '{}')).toMatchObject(wrong)
    expect(await at.worker.signals.pending()).toHaveLength(1)

    expect(await send('signal', 'handedOver', at.ids['parcel:1'], '{"amount":7}')).toMatchObject({
      changed: true,
      sentence: 'Delivered: "handedOver" goes on.',
    })
    const [entry] = await at.worker.runs.history(at.ids['parcel:1'])
    expect(entry!.key).toMatch(/^ada, by hand, /)
    const reason = { verb: 'signal', step: 'handedOver', payload: '1', dryRun: false, reason: 'kept nowhere' }
    expect((await post(handler, `runs/${at.ids['parcel:1']}/actions`, reason)).status).toBe(400)
  })
})
