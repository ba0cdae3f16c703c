import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const never = () => new Promise(() => {})

describe('giving up a handler that neither ends nor reacts to its signal', () => {
  it('lets its run be undone, and the report says that its effect is unknown', async () => {
    const { clock, worker } = engines()
    const undone: string[] = []
    const workflow = define('deaf', { version: 1 })
      .step('reserve', { run: () => 'reserved', compensate: () => undone.push('reserve') })
      .step('charge', { dependsOn: ['reserve'], run: never, compensate: () => undone.push('charge') })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('1s')
    await run.cancel()
    await clock.advance('1h')
    expect((await run.status()).status).toBe('compensating')

    await run.giveUpStep('charge', { by: 'ann', reason: 'its process hangs in a system call' })

    const error = await clock.runUntil(run.result().catch((failed: unknown) => failed))
    expect(undone).toEqual(['reserve'])
    expect(error).toMatchObject({
      status: 'cancelled',
      undo: [
        { step: 'reserve', result: 'compensated' },
        {
          step: 'charge',
          result: 'unknown',
          error: { code: 'outcome_unknown', message: expect.stringMatching(/hangs in a system call/) },
        },
      ],
    })
    expect(await run.history()).toMatchObject([
      { action: 'cancel' },
      { action: 'give_up_step', step: 'charge', by: 'ann', reason: 'its process hangs in a system call' },
    ])
  })

  it('undoes its step too if compensateOn is started', async () => {
    const { clock, worker } = engines()
    const undone: string[] = []
    const workflow = define('deaf', { version: 1 }).step('charge', {
      run: never,
      compensateOn: 'started',
      compensate: ({ error }) => undone.push(error?.code ?? ''),
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('1s')
    await run.cancel()
    await run.giveUpStep('charge', { reason: 'it hangs' })

    await clock.runUntil(run.result().catch(() => {}))
    expect(undone).toEqual(['outcome_unknown'])
  })

  it('parks the undo if a compensation hangs; it can then be retried or skipped', async () => {
    const { clock, worker } = engines()
    let hangs = true
    const workflow = define('deaf', { version: 1 })
      .step('reserve', {
        run: () => 'reserved',
        compensate: async () => {
          if (hangs) await never()
        },
      })
      .step('fail', {
        dependsOn: ['reserve'],
        retry: false,
        run: () => {
          throw new Error('no')
        },
      })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('5s')

    await run.giveUpStep('reserve', { reason: 'it hangs' })
    await clock.advance('5s')
    expect((await run.status()).status).toBe('compensation_failed')
    hangs = false
    await run.retryCompensation('reserve')

    await clock.runUntil(run.result().catch(() => {}))
    expect((await run.status()).status).toBe('compensated')
  })

  it('is refused for a run that goes forward, for a step whose handler is not running, and without a reason', async () => {
    const { clock, worker } = engines()
    const workflow = define('busy', { version: 1 })
      .step('works', { run: never })
      .step('waits', { dependsOn: ['works'], run: never })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('1s')

    const refused = { code: 'action_refused' }
    await expect(run.giveUpStep('works', { reason: 'slow' })).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(/Cancel the run first/),
    })
    await expect(run.giveUpStep('waits', { reason: 'slow' })).rejects.toMatchObject(refused)
    await expect(run.giveUpStep('works', { reason: ' ' })).rejects.toMatchObject({ code: 'invalid_option' })
    await run.cancel()
    await run.giveUpStep('works', { reason: 'slow' })
    await clock.runUntil(run.result().catch(() => {}))
  })
})
