import { define, PermanentError, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate, statuses } from './bench-of-engines.ts'

/** reserve → send (pivot) → mail, book. What `broken` names fails for good. */
function transfer(broken: Set<string>, undone: string[] = []) {
  const work = (name: string) => () => {
    if (broken.has(name)) throw new PermanentError(`${name} is broken`)
    return name
  }
  const compensate = ({ step }: { step: string }) => {
    undone.push(step)
  }
  return define('transfer', { version: 1 })
    .step('reserve', { run: work('reserve'), compensate })
    .step('send', { dependsOn: ['reserve'], pivot: true, run: work('send') })
    .step('mail', { dependsOn: ['send'], run: work('mail') })
    .step('book', { dependsOn: ['send'], run: work('book'), compensate })
}

describe('a run whose pivot has completed', () => {
  it('is parked by a failure, undoes nothing, and completes once the step is retried', async () => {
    const { clock, worker } = engines()
    const [broken, undone, parked] = [new Set(['mail']), [] as string[], [] as string[]]
    const workflow = transfer(broken, undone)
    const engine = await worker({ workflows: [workflow] })
    engine.on('run.parked', ({ runId, status }) => parked.push(`${runId} ${status}`))
    const run = await engine.run(workflow)
    await clock.advance('1m')

    const snapshot = await run.status()
    expect(snapshot).toMatchObject({ status: 'parked', cause: undefined })
    expect(statuses(snapshot)).toEqual({
      reserve: 'completed',
      send: 'completed',
      mail: 'failed',
      book: 'completed',
    })
    expect(parked).toEqual([`${run.id} parked`])
    expect((await engine.runs.list({ status: 'parked' })).map(({ id }) => id)).toEqual([run.id])
    const { sentence, steps } = await run.explain()
    expect(sentence).toBe(
      `Run ${run.id} is parked after its pivot, because "mail" failed (PermanentError: mail is broken): 1 step failed for good, and nothing is undone; an operator must retry or skip what failed, and 0 other open steps go on.`,
    )
    expect(steps).toMatchObject([{ step: 'mail', reason: 'operator' }])
    expect(steps[0]!.sentence).toContain('retry it once its cause is repaired')

    broken.clear()
    await run.retryStep('mail')
    expect(await clock.runUntil(run.result())).toMatchObject({ mail: 'mail' })
    expect(undone).toEqual([])
  })

  it('is undone if the pivot was skipped by its condition, or if the pivot itself fails', async () => {
    for (const when of [() => false, undefined]) {
      const { clock, worker } = engines()
      const undone: string[] = []
      const workflow = define('skipping', { version: 1 })
        .step('reserve', {
          run: () => 1,
          compensate: ({ step }) => {
            undone.push(step)
          },
        })
        .step('send', {
          dependsOn: ['reserve'],
          pivot: true,
          ...(when === undefined ? {} : { when }),
          run: () => {
            throw new PermanentError('no')
          },
        })
        .step('mail', {
          dependsOn: ['send'],
          onSkipped: 'run',
          run: () => {
            throw new PermanentError('no')
          },
        })
      const run = await (await worker({ workflows: [workflow] })).run(workflow)
      await clock.runUntil(run.result().catch(() => {}))

      expect((await run.status()).status).toBe('compensated')
      expect(undone).toEqual(['reserve'])
    }
  })

  it('is not undone even if it was cancelled while the pivot ran, and goes on when it is retried', async () => {
    const { clock, worker } = engines()
    const { passed, open } = gate()
    const undone: string[] = []
    const workflow = define('late', { version: 1 })
      .step('reserve', {
        run: () => 1,
        compensate: ({ step }) => {
          undone.push(step)
        },
      })
      .step('send', { dependsOn: ['reserve'], pivot: true, run: () => passed })
      .step('mail', { dependsOn: ['send'], run: () => 'sent' })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)
    await clock.advance('1s')
    expect(await run.cancel()).toBe(true)
    open()
    await clock.runUntil(run.result().catch(() => {}))

    expect(statuses(await run.status())).toEqual({
      reserve: 'completed',
      send: 'completed',
      mail: 'cancelled',
    })
    expect((await run.status()).status).toBe('cancelled')
    expect(undone).toEqual([])
    await run.retry()
    expect(await clock.runUntil(run.result())).toMatchObject({ mail: 'sent' })
  })

  it('refuses to be cancelled, and keeps every effect if it is ended without an undo', async () => {
    const { clock, worker } = engines()
    const workflow = transfer(new Set(['mail']))
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('1m')

    await expect(run.cancel()).rejects.toMatchObject({ code: 'action_refused', step: 'send' })
    expect(await run.cancel({ compensate: false })).toBe(true)
    await clock.runUntil(run.result().catch(() => {}))
    expect(await run.status()).toMatchObject({ status: 'cancelled' })
  })

  it('is parked by an item of a map too; other items go on, and the item may be skipped', async () => {
    const { clock, worker } = engines()
    const workflow = define('mapped', { version: 1 })
      .step('send', { pivot: true, run: () => 1 })
      .map('pages', {
        dependsOn: ['send'],
        over: () => ['a', 'b', 'c'],
        run: ({ item }) => {
          if (item === 'b') throw new PermanentError('no')
          return item
        },
      })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)
    await clock.advance('1m')
    expect(await run.status()).toMatchObject({ status: 'parked' })
    expect(statuses(await run.status())).toMatchObject({
      'pages[0]': 'completed',
      'pages[1]': 'failed',
      'pages[2]': 'completed',
    })

    await run.skipStep('pages[1]', { output: 'B' })
    expect(await clock.runUntil(run.result())).toMatchObject({ pages: ['a', 'B', 'c'] })
  })

  it.each(['running', 'paused'])(
    'is retried with the failed items of a map of which too few completed, while it is %s',
    async (status) => {
      const { clock, worker } = engines()
      const failing = new Set(['b', 'd'])
      const calls: string[] = []
      const workflow = define('mailing', { version: 1, retry: false })
        .step('send', { pivot: true, run: () => 1 })
        .map('mail', {
          dependsOn: ['send'],
          over: () => ['a', 'b', 'c', 'd'],
          itemKey: (item) => item,
          concurrency: 1,
          onFailure: 'collect',
          minSuccess: '100%',
          run: ({ item }) => {
            calls.push(item)
            if (failing.has(item)) throw new PermanentError('no such address')
            return item
          },
        })
      const engine = await worker({ workflows: [workflow] })
      const run = await engine.run(workflow)
      await clock.advance('1m')
      expect((await run.status()).status).toBe('parked')
      const explained = await run.explain()
      expect(explained.sentence).toContain('is parked after its pivot, because "mail" failed (')
      expect(explained.steps.map(({ step }) => step)).toEqual(['mail'])

      failing.clear()
      if (status === 'paused') await run.pause()
      await run.retry()
      if (status === 'paused') await run.resume()
      const outputs = await clock.runUntil(run.result())
      expect(outputs.mail.map((sent) => sent.status)).toEqual(Array(4).fill('completed'))
      expect(calls).toEqual(['a', 'b', 'c', 'd', 'b', 'd'])
    },
  )

  it('is parked by a step that counts as poison, and by a second pivot that fails', async () => {
    const { clock, worker } = engines()
    const workflow = define('poison', { version: 1 })
      .step('send', { pivot: true, run: () => 1 })
      .step('mail', { dependsOn: ['send'], pivot: true, lossesMax: 0, run: () => 'sent' })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('1m')
    expect(await run.status()).toMatchObject({ status: 'parked' })

    await run.skipStep('mail', { output: 'by hand' })
    expect(await clock.runUntil(run.result())).toEqual({ send: 1, mail: 'by hand' })
  })
})

describe('an irreversible step', () => {
  it('is named in the undo report, and in the snapshot', async () => {
    const { clock, worker } = engines()
    const workflow = define('told', { version: 1 })
      .step('reserve', { run: () => 1, compensate: () => {} })
      .step('mail', { dependsOn: ['reserve'], irreversible: true, run: () => 'sent' })
      .map('pages', { dependsOn: ['reserve'], over: () => [1], irreversible: true, run: () => 'printed' })
      .step('fail', {
        dependsOn: ['mail', 'pages'],
        run: () => {
          throw new PermanentError('no')
        },
      })
    const run = await (await worker({ workflows: [workflow] })).run(workflow)
    const error = await clock.runUntil(run.result().catch((failure: unknown) => failure))

    expect(RunFailedError.is(error) && error.undo).toEqual([
      { step: 'reserve', result: 'compensated', error: undefined },
      { step: 'mail', result: 'irreversible', error: undefined },
      { step: 'pages[0]', result: 'irreversible', error: undefined },
    ])
    expect(RunFailedError.is(error) && error.message).toContain(
      'Undone: 1 of 1. What "mail", "pages[0]" did cannot be undone, and stays.',
    )
    const { steps } = await run.status()
    expect(steps.filter(({ irreversible }) => irreversible).map(({ name }) => name)).toEqual([
      'mail',
      'pages[0]',
    ])
  })
})
