import { type BelayError, define, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { engines } from './bench-of-engines.ts'

describe('an approval', () => {
  const undone: string[] = []
  const claim = define('expense', { version: 1 })
    .step('reserve', { run: () => 1, compensate: () => void undone.push('reserve') })
    .approval('manager', { dependsOn: ['reserve'], schema: z.object({ limit: z.number() }).optional() })
    .step('pay', { dependsOn: ['manager'], run: ({ deps }) => deps.manager })

  async function waiting() {
    undone.length = 0
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [claim] })
    const run = await engine.run(claim)
    await clock.advance('10s')
    return { clock, engine, run }
  }

  it('records who approved, when, with which comment and payload', async () => {
    const { clock, run } = await waiting()
    const at = new Date(clock.now()).toISOString()

    const receipt = await run.approve('manager', { by: 'ann', comment: 'fine', payload: { limit: 9 } })

    expect(receipt).toMatchObject({ step: 'manager', result: 'delivered' })
    const decision = { approved: true, by: 'ann', at, comment: 'fine', payload: { limit: 9 } }
    expect(await clock.runUntil(run.result())).toMatchObject({ manager: decision, pay: decision })
  })

  it('that is rejected fails its step without retries, and the run is undone', async () => {
    const { clock, run } = await waiting()

    await run.reject('manager', { by: 'bob', comment: 'too much' })
    const error = await clock.runUntil(run.result().catch((e: unknown) => e))

    expect(RunFailedError.is(error) && error).toMatchObject({
      status: 'compensated',
      step: 'manager',
      attempt: 1,
      reason: { error: { code: 'approval_rejected' } },
      message: expect.stringMatching(/was rejected by bob at 2025-.*: too much/),
    })
    expect(undone).toEqual(['reserve'])
    const { steps } = await run.status()
    expect(steps.find(({ name }) => name === 'manager')).toMatchObject({
      status: 'failed',
      output: { approved: false, by: 'bob', comment: 'too much' },
    })
  })

  it('accepts the same decision again, from anybody, and records it once', async () => {
    const { clock, run } = await waiting()
    await run.approve('manager', { by: 'ann', key: 'k' })
    expect((await run.approve('manager', { by: 'ann', key: 'k' })).result).toBe('duplicate')
    expect((await run.approve('manager', { by: 'carl' })).result).toBe('duplicate')
    const { manager } = await clock.runUntil(run.result())
    expect(manager).toMatchObject({ by: 'ann' })
    expect((await run.approve('manager', { by: 'ann' })).result).toBe('duplicate')
  })

  it('refuses another decision than the first', async () => {
    const { clock, run } = await waiting()
    await run.reject('manager', { by: 'bob' })
    const again = run.approve('manager', { by: 'ann' })
    await expect(again).rejects.toMatchObject({ code: 'decision_conflict', runId: run.id, step: 'manager' })
    await expect(again).rejects.toThrow(/was rejected by bob at 2025.*and can no longer be approved/)
    await clock.runUntil(run.result().catch(() => {}))
    await expect(run.approve('manager', { by: 'ann' })).rejects.toMatchObject({ code: 'decision_conflict' })
    expect((await run.reject('manager', { by: 'bob' })).result).toBe('duplicate')
  })

  it('can be decided before it is asked for, and by workflow and key', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [claim] })
    const run = await engine.run(claim, undefined, { key: 'c1', delay: '1m' })
    const receipt = await engine.approve({ workflow: claim, key: 'c1' }, 'manager', { by: 'ann' })
    expect(receipt.result).toBe('kept')
    await expect(
      engine.reject({ workflow: claim, key: 'c1' }, 'manager', { by: 'bob' }),
    ).rejects.toMatchObject({
      code: 'decision_conflict',
    })
    expect(await clock.runUntil(run.result())).toMatchObject({ pay: { by: 'ann' } })
  })

  it('may time out', async () => {
    const { clock, worker } = engines()
    const workflow = define('lapse', { version: 1 }).approval('gate', {
      timeout: '1m',
      onTimeout: { output: { approved: false as const } },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    expect(await clock.runUntil(run.result())).toEqual({ gate: { approved: false } })
    const late = await run.approve('gate', { by: 'ann' })
    expect(late).toMatchObject({ result: 'ignored', reason: 'run_over' })
  })

  it.each<[string, unknown, string, BelayError['code']]>([
    ['nobody', {}, 'approve(): by must be given: a string of 1 to 512 characters', 'invalid_option'],
    ['an empty name', { by: '' }, 'approve(): by must be a string of 1 to 512', 'invalid_option'],
    [
      'a comment that is not a string',
      { by: 'ann', comment: 7 },
      'comment must be a string',
      'invalid_option',
    ],
    ['an unknown option', { by: 'ann', why: 'x' }, 'approve() has no option "why"', 'invalid_option'],
    ['nothing', undefined, 'approve(): the options must be an object with by', 'invalid_option'],
    ['a payload that is not valid', { by: 'ann', payload: 7 }, 'is not valid', 'invalid_input'],
  ])('refuses %s', async (_, decision, message, code) => {
    const { engine, run } = await waiting()
    const deciding = engine.runs.handle(run.id).approve('manager', decision as never)
    await expect(deciding).rejects.toMatchObject({ code })
    await expect(deciding).rejects.toThrow(message)
    expect((await run.status()).status).toBe('waiting')
  })
})
