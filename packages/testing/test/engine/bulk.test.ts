import { define, PermanentError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const workflow = define('bulk', { version: 1 }).step('a', { run: () => 1 })
const other = define('other', { version: 1 }).step('a', { run: () => 1 })

async function started(count: number) {
  const made = engines()
  const engine = made.engine()
  const runs = await engine.runMany(
    workflow,
    Array.from({ length: count }, (_, n) => ({ input: n, key: `k${n}` })),
  )
  return { ...made, engine, runs }
}

describe('acting on many runs', () => {
  it('a dry run tells what would be done, and does nothing', async () => {
    const { engine, runs } = await started(3)

    const result = await engine.runs.pauseMany({ workflow: 'bulk' }, { dryRun: true, by: 'ann' })

    expect(result).toEqual({
      matched: 3,
      changed: 3,
      runIds: runs.map(({ id }) => id).reverse(),
      refused: [],
      unknown: [],
      more: false,
    })
    for (const run of runs) {
      expect((await run.status()).status).toBe('running')
      expect(await run.history()).toEqual([])
    }
  })

  it('pauses, resumes and cancels what fits the filter, over more than a page, and notes it in each history', async () => {
    const { engine, runs } = await started(450)
    const apart = await engine.run(other, undefined)

    const paused = await engine.runs.pauseMany({ workflow: 'bulk' }, { by: 'ann', reason: 'upkeep' })
    expect(paused).toMatchObject({ matched: 450, changed: 450, more: false })
    expect((await apart.status()).status).toBe('running')
    const resumed = await engine.runs.resumeMany({}, { by: 'bob' })
    expect(resumed.changed).toBe(450)
    const cancelled = await engine.runs.cancelMany({ workflow: 'bulk' }, { by: 'cy', compensate: false })

    expect(cancelled.changed).toBe(450)
    expect((await runs[17]!.history()).map(({ action, by }) => `${action} ${by}`)).toEqual([
      'pause ann',
      'resume bob',
      'cancel cy',
    ])
  })

  it('stops at its limit, newest first, and says that there is more', async () => {
    const { engine, runs } = await started(250)

    const first = await engine.runs.pauseMany({}, { limit: 230 })
    const rest = await engine.runs.pauseMany({}, { limit: 230 })

    expect(first).toMatchObject({ matched: 230, changed: 230, more: true })
    expect(first.runIds[0]).toBe(runs.at(-1)!.id)
    expect(rest).toMatchObject({ matched: 20, changed: 20, more: false })
  })

  it('says of each run that was named and doesn’t fit why it was left', async () => {
    const { engine, runs } = await started(2)
    await runs[0]!.cancel()

    const result = await engine.runs.pauseMany({ workflow: 'bulk', status: ['running', 'compensating'] })
    const cancelled = await engine.runs.cancelMany({ status: ['compensating', 'paused'] }, { dryRun: true })

    expect(result).toMatchObject({ matched: 2, changed: 1, runIds: [runs[1]!.id] })
    expect(result.refused).toEqual([
      { runId: runs[0]!.id, why: expect.stringMatching(/cannot be paused: it is being undone/) },
    ])
    expect(cancelled).toMatchObject({
      matched: 2,
      runIds: [runs[1]!.id],
      refused: [
        { runId: runs[0]!.id, why: expect.stringMatching(/cannot be cancelled: it is being undone/) },
      ],
    })
  })

  it('retries every run that failed', async () => {
    const { clock, worker } = engines()
    let broken = true
    const failing = define('failing', { version: 1 }).step('a', {
      run: () => {
        if (broken) throw new PermanentError('no')
        return 1
      },
    })
    const engine = await worker({ workflows: [failing] })
    const runs = await engine.runMany(failing, [{}, {}, {}])
    await clock.runUntil(Promise.allSettled(runs.map((run) => run.result())))

    broken = false
    const retried = await engine.runs.retryMany({ workflow: 'failing' }, { by: 'ann' })

    expect(retried).toMatchObject({ matched: 3, changed: 3, refused: [] })
    expect(await clock.runUntil(Promise.all(runs.map((run) => run.result())))).toEqual([
      { a: 1 },
      { a: 1 },
      { a: 1 },
    ])
  })

  it.each([
    [{ workflows: 'x' }, {}, /a filter has no "workflows".*Did you mean "workflow"/],
    [{ status: 'done' }, {}, /there is no status "done"/],
    [{}, { dryrun: true }, /pauseMany\(\) has no option "dryrun"\. Did you mean "dryRun"/],
    [{}, { limit: 0 }, /limit must be a whole number from 1 to 100000; got 0/],
    [{}, { dryRun: 'yes' }, /dryRun must be true or false/],
  ])('refuses the filter %j with the options %j', async (filter, options, message) => {
    const { engine, runs } = await started(1)

    await expect(engine.runs.pauseMany(filter as never, options as never)).rejects.toThrow(message)
    expect((await runs[0]!.status()).status).toBe('running')
  })

  it('acts on the runs that a list names, by handle, id or key, each once, in its order', async () => {
    const { engine, runs } = await started(3)
    const keyed = await engine.run(other, undefined, { key: 'k' })
    const missing = '01920000-0000-7000-8000-000000000000'
    const list = [runs[2]!, { workflow: other, key: 'k' }, runs[0]!.id.toUpperCase(), runs[2]!.id]

    const dry = await engine.runs.pauseMany([...list, missing, { workflow: 'other', key: 'none' }], {
      dryRun: true,
    })
    const paused = await engine.runs.pauseMany(list, { by: 'ann' })
    const cancelled = await engine.runs.cancelMany([keyed, missing], { by: 'ann' })
    const again = await engine.runs.cancelMany([keyed])

    const runIds = [runs[2]!.id, keyed.id, runs[0]!.id]
    const unknown = [missing, { workflow: 'other', key: 'none' }]
    expect(dry).toEqual({ matched: 3, changed: 3, runIds, refused: [], unknown, more: false })
    expect(paused).toEqual({ matched: 3, changed: 3, runIds, refused: [], unknown: [], more: false })
    expect((await runs[1]!.status()).status).toBe('running')
    expect(cancelled).toMatchObject({ changed: 1, runIds: [keyed.id], unknown: [missing] })
    expect(again).toMatchObject({ changed: 0, refused: [{ runId: keyed.id }], unknown: [] })
  })

  it('acts on nothing when a list is empty, and on no more than the limit of a longer one', async () => {
    const { engine, runs } = await started(3)

    const none = await engine.runs.cancelMany([])
    const two = await engine.runs.cancelMany(runs, { limit: 2 })

    expect(none).toMatchObject({ matched: 0, changed: 0, more: false })
    expect(two).toMatchObject({ matched: 2, changed: 2, more: true })
    expect((await runs[2]!.status()).status).toBe('running')
    await expect(engine.runs.cancelMany([7] as never)).rejects.toMatchObject({ code: 'invalid_option' })
  })
})
