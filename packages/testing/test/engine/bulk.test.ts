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
  it('a dry run reports what would be done, and does nothing', async () => {
    const { engine, runs } = await started(3)

    const result = await engine.runs.pauseMany({ workflow: 'bulk' }, { dryRun: true, by: 'ann' })

    expect(result).toEqual({
      matched: 3,
      changed: 3,
      runIds: runs.map(({ id }) => id).reverse(),
      refused: [],
      refusals: [],
      unknown: [],
      more: false,
    })
    for (const run of runs) {
      expect((await run.status()).status).toBe('running')
      expect(await run.history()).toEqual([])
    }
  })

  it('pauses, resumes and cancels the runs that fit the filter, over several pages, and records it in each history', async () => {
    const { engine, runs } = await started(450)
    const apart = await engine.run(other, undefined)

    const paused = await engine.runs.pauseMany({ workflow: 'bulk' }, { by: 'ann', reason: 'upkeep' })
    expect(paused).toMatchObject({ matched: 450, changed: 450, more: false })
    expect((await apart.status()).status).toBe('running')
    const resumed = await engine.runs.resumeMany({ all: true }, { by: 'bob' })
    expect(resumed.changed).toBe(450)
    const cancelled = await engine.runs.cancelMany({ workflow: 'bulk' }, { by: 'cy', compensate: false })

    expect(cancelled.changed).toBe(450)
    expect((await runs[17]!.history()).map(({ action, by }) => `${action} ${by}`)).toEqual([
      'pause ann',
      'resume bob',
      'cancel cy',
    ])
  })

  it('stops at its limit, newest first, and reports that there are more', async () => {
    const { engine, runs } = await started(250)

    const first = await engine.runs.pauseMany({ all: true }, { limit: 230 })
    const rest = await engine.runs.pauseMany({ all: true }, { limit: 230 })

    expect(first).toMatchObject({ matched: 230, changed: 230, more: true })
    expect(first.runIds[0]).toBe(runs.at(-1)!.id)
    expect(rest).toMatchObject({ matched: 20, changed: 20, more: false })
  })

  it('reports for each named run that doesn’t fit why it was skipped', async () => {
    const { engine, runs } = await started(2)
    await runs[0]!.cancel()

    const paused = await engine.runs.pauseMany({ workflow: 'bulk', status: ['running', 'compensating'] })
    const retried = await engine.runs.retryMany({ workflow: 'bulk', status: 'paused' })
    const cancelled = await engine.runs.cancelMany({ status: 'paused' }, { compensate: false, dryRun: true })

    expect(paused).toMatchObject({ matched: 2, changed: 2, refused: [] })
    expect(retried).toMatchObject({ matched: 2, changed: 0 })
    expect(retried.refused.map(({ why }) => why)).toEqual([
      expect.stringMatching(/cannot be retried: it is paused/),
      expect.stringMatching(/cannot be retried: it was stopped, and is paused before its undo/),
    ])
    expect(cancelled).toMatchObject({ matched: 2, runIds: [runs[1]!.id] })
    expect(cancelled.refused).toMatchObject([
      { runId: runs[0]!.id, why: expect.stringMatching(/cannot be cancelled without its undo/) },
    ])
  })

  it('moves runs to another version, first in a dry run, and reports those it cannot move', async () => {
    const { engine, runs } = await started(3)
    const second = define('bulk', { version: 2 }).step('a', { run: () => 2 })
    const renamed = define('bulk', { version: 3 }).step('b', { run: () => 3 })
    await runs[0]!.skipStep('a')
    await engine.run(other, undefined)

    const dry = await engine.runs.migrateMany({ all: true }, second, { dryRun: true })
    expect(dry).toMatchObject({ matched: 2, changed: 2, refused: [] })
    expect((await runs[1]!.status()).version).toBe(1)
    const moved = await engine.runs.migrateMany({ all: true }, second, { by: 'ann', reason: 'wrong price' })
    const again = await engine.runs.migrateMany({ all: true }, second)
    const refused = await engine.runs.migrateMany({ all: true }, renamed)

    expect(moved).toMatchObject({ matched: 2, changed: 2, refused: [] })
    expect(again).toMatchObject({ matched: 2, changed: 0, refused: [] })
    expect((await runs[1]!.status()).version).toBe(2)
    expect((await runs[1]!.history()).map(({ action, by }) => [action, by])).toEqual([['migrate', 'ann']])
    expect(refused).toMatchObject({ matched: 2, changed: 0 })
    expect(refused.refused[0]!.why).toMatch(/step "a" is ready, and version 3 has no such step/)
    await expect(engine.runs.migrateMany({ all: true }, {} as never)).rejects.toMatchObject({
      code: 'unknown_workflow',
    })
  })

  it('repairs the parked compensations of many runs, by a retry or by a skip', async () => {
    const { clock, worker } = engines()
    let broken = true
    const parking = define('parking', { version: 1 })
      .step('a', {
        run: () => 1,
        compensate: () => {
          if (broken) throw new PermanentError('no')
        },
      })
      .step('b', {
        dependsOn: ['a'],
        run: () => {
          throw new PermanentError('no')
        },
      })
    const engine = await worker({ workflows: [parking] })
    const runs = await engine.runMany(parking, [{}, {}, {}])
    await clock.runUntil(Promise.allSettled(runs.map((run) => run.result())))

    const unknown = await engine.runs.skipCompensationMany({ workflow: 'parking' }, 'c')
    const wrong = await engine.runs.retryCompensationMany({ workflow: 'parking' }, 'b')
    const skipped = await engine.runs.skipCompensationMany({ workflow: 'parking' }, 'a', {
      limit: 1,
      by: 'ann',
    })
    broken = false
    const retried = await engine.runs.retryCompensationMany({ workflow: 'parking' }, 'a', { by: 'ann' })

    expect(unknown).toMatchObject({ matched: 3, changed: 0 })
    expect(unknown.refused[0]!.why).toMatch(/has no step "c"/)
    expect(wrong.refused[0]!.why).toMatch(/it is failed/)
    expect(skipped).toMatchObject({ matched: 1, changed: 1, more: true })
    expect(retried).toMatchObject({ matched: 2, changed: 2, refused: [] })
    const ended = await clock.runUntil(Promise.allSettled(runs.map((run) => run.result())))
    expect(ended.map((end) => end.status === 'rejected' && end.reason.status)).toEqual(
      runs.map(() => 'compensated'),
    )
    await expect(engine.runs.retryCompensationMany({}, undefined as never)).rejects.toMatchObject({
      code: 'invalid_option',
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
    [{ workflows: 'x' }, {}, /pauseMany\(\) has no option "workflows".*Did you mean "workflow"/],
    [{ status: 'done' }, {}, /status must be one of .*; got "done"/],
    [{ status: [] }, {}, /status must be one of .*; got an empty array/],
    [{}, {}, /the filter is empty, and would match every run.*give \{ all: true \}/],
    [{ all: false }, {}, /the filter is empty/],
    [{ all: true, workflow: 'bulk' }, {}, /all and workflow are both given. Keep one/],
    [5, {}, /the filter must be an object with workflow.*got 5/],
    [null, {}, /the filter must be an object with workflow.*got null/],
    [{ all: true }, null, /the options must be an object.*got null/],
    [{ all: true }, { dryrun: true }, /pauseMany\(\) has no option "dryrun"\. Did you mean "dryRun"/],
    [{ all: true }, { limit: 0 }, /limit must be a whole number from 1 to 100000; got 0/],
    [{ all: true }, { dryRun: 'yes' }, /dryRun must be true or false/],
  ])('refuses the filter %j with the options %j', async (filter, options, message) => {
    const { engine, runs } = await started(1)

    await expect(engine.runs.pauseMany(filter as never, options as never)).rejects.toThrow(message)
    expect((await runs[0]!.status()).status).toBe('running')
  })

  it.each(['cancelMany', 'pauseMany', 'resumeMany', 'retryMany'] as const)(
    '%s refuses a filter whose value is undefined, and changes nothing',
    async (verb) => {
      const { engine, runs } = await started(1)

      for (const name of ['workflow', 'status', 'key']) {
        const acting = engine.runs[verb]({ [name]: undefined } as never)
        await expect(acting).rejects.toThrow(
          `runs.${verb}(): ${name} is undefined, and would match everything.`,
        )
      }
      expect((await runs[0]!.status()).status).toBe('running')
    },
  )

  it('refuses undefined in every other filter too', async () => {
    const { engine } = await started(0)
    const undefinedIn = (name: string, others = {}) => ({ ...others, [name]: undefined }) as never
    const old = { olderThan: '1d' }

    for (const name of ['workflow', 'status', 'key']) {
      await expect(engine.runs.list(undefinedIn(name))).rejects.toThrow(`runs.list(): ${name} is undefined`)
    }
    for (const name of ['workflow', 'statuses']) {
      await expect(engine.prune(undefinedIn(name, old))).rejects.toThrow(`prune(): ${name} is undefined`)
    }
    await expect(engine.runs.releaseKeys(undefinedIn('workflow', old))).rejects.toThrow(
      'workflow is undefined',
    )
    await expect(engine.runs.list({ workflow: [] } as never)).rejects.toThrow('workflow must be a string')
  })

  it('acts on the runs of a list, by handle, id or key, each once, in the order of the list', async () => {
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
    expect(dry).toEqual({ matched: 3, changed: 3, runIds, refused: [], refusals: [], unknown, more: false })
    expect(paused).toEqual({
      ...{ matched: 3, changed: 3, runIds, refused: [], refusals: [] },
      ...{ unknown: [], more: false },
    })
    expect((await runs[1]!.status()).status).toBe('running')
    expect(cancelled).toMatchObject({ changed: 1, runIds: [keyed.id], unknown: [missing] })
    expect(again).toMatchObject({ changed: 0, refused: [{ runId: keyed.id }], unknown: [] })
  })

  it('acts on nothing if a list is empty, and on no more than the limit of a longer list', async () => {
    const { engine, runs } = await started(3)

    const none = await engine.runs.cancelMany([])
    const two = await engine.runs.cancelMany(runs, { limit: 2 })

    expect(none).toMatchObject({ matched: 0, changed: 0, more: false })
    expect(two).toMatchObject({ matched: 2, changed: 2, more: true })
    expect((await runs[2]!.status()).status).toBe('running')
    await expect(engine.runs.cancelMany([7] as never)).rejects.toMatchObject({ code: 'invalid_option' })
  })
})
