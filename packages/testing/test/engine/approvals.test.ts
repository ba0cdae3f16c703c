import { define, type PendingApproval } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const expense = define('expense', { version: 1 })
  .step('reserve', { run: () => 1 })
  .approval('manager', { dependsOn: ['reserve'], timeout: '2d' })
  .approval('finance', { dependsOn: ['reserve'] })
const quiet = define('quiet', { version: 1 }).waitForSignal('go')

describe('approvals.pending()', () => {
  it('lists the runs that wait for a decision, since when, and when they time out', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [expense, quiet] })
    const run = await engine.run(expense, undefined, { key: 'e1' })
    await engine.run(quiet)
    await clock.advance('1s')
    const { steps } = await run.status()
    const since = (name: string) => steps.find((step) => step.name === name)!.waitingSince

    const pending = await engine.approvals.pending()

    const of = { runId: run.id, workflow: 'expense', version: 1, key: 'e1' }
    expect(pending).toEqual([
      { ...of, step: 'finance', since: since('finance'), timeoutAt: undefined },
      {
        ...of,
        step: 'manager',
        since: since('manager'),
        timeoutAt: new Date(Number(since('manager')) + 2 * 86_400_000),
      },
    ])
  })

  it('signals.pending() lists the steps that wait for a signal', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [expense, quiet] })
    const run = await engine.run(quiet, undefined, { key: 'q1' })
    await engine.run(expense)
    await clock.advance('1s')
    expect(await engine.signals.pending()).toMatchObject([
      { runId: run.id, workflow: 'quiet', version: 1, key: 'q1', step: 'go', timeoutAt: undefined },
    ])
    await run.signal('go')
    expect(await engine.signals.pending()).toEqual([])
    await expect(engine.signals.pending({ limit: 0 })).rejects.toThrow('signals.pending()')
  })

  it('is empty again once everything is decided', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [expense] })
    const run = await engine.run(expense)
    await clock.advance('1s')
    for (const { runId, step } of await engine.approvals.pending()) {
      await engine.approve(runId, step as 'manager', { by: 'ann' })
    }
    expect(await engine.approvals.pending()).toEqual([])
    await clock.runUntil(run.result())
  })

  it('pages through all of them, across any number of runs that wait for nothing', async () => {
    const { clock, engine, worker } = engines()
    const starter = engine({ workflows: [expense] })
    const later = { delay: '1d' } as const
    const first = await starter.run(expense)
    await starter.runMany(
      expense,
      Array.from({ length: 250 }, () => later),
    )
    const second = await starter.run(expense)
    await worker({ workflows: [expense] })
    await clock.advance('1s')

    const pages: (readonly PendingApproval[])[] = []
    for (let before: PendingApproval | undefined; pages.length < 10; ) {
      const page = await starter.approvals.pending({ limit: 3, before })
      pages.push(page)
      before = page.at(-1)
      if (page.length < 3) break
    }

    expect(pages.map((page) => page.map(({ runId, step }) => [runId, step]))).toEqual([
      [
        [second.id, 'finance'],
        [second.id, 'manager'],
        [first.id, 'finance'],
      ],
      [[first.id, 'manager']],
    ])
    expect(await starter.approvals.pending({ step: 'finance' })).toHaveLength(2)
    expect(await starter.approvals.pending({ workflow: 'quiet' })).toEqual([])
  })

  it.each([
    [{ limit: 0 }, 'limit must be a whole number from 1 to 1000; got 0'],
    [{ limit: 1.5 }, 'limit must be a whole number'],
    [{ workflow: 7 }, 'workflow must be a string of 1 to 128 characters'],
    [{ step: 'a\0' }, 'step must be a string of 1 to 128 characters'],
    [{ before: 'x' }, 'before must be an approval of the previous page'],
    [{ before: null }, 'before must be an approval of the previous page'],
    [{ before: { runId: 'x', step: 'a' } }, 'before must be an approval of the previous page'],
    [{ workflows: 'expense' }, 'has no option "workflows". Did you mean "workflow"?'],
    [null, 'the filter must be an object'],
    [{ step: undefined }, 'step is undefined, and would match everything'],
  ])('refuses %j', async (options, message) => {
    const asking = engines()
      .engine()
      .approvals.pending(options as never)
    await expect(asking).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(asking).rejects.toThrow(message)
  })

  it('is refused by a closed engine', async () => {
    const { clock, engine } = engines()
    const closed = engine()
    await clock.runUntil(closed.close())
    await expect(closed.approvals.pending()).rejects.toMatchObject({ code: 'engine_closed' })
  })
})
