import { type ArchivedRun, createEngine, define, type PruneOptions } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'
import { endedRuns, failing, other, workflow } from './ended-runs.ts'

describe('prune()', () => {
  it('deletes runs that ended long enough ago, in batches, and returns how many', async () => {
    const { clock, engine, ended, left } = await endedRuns()
    await ended(5)
    await clock.advance('2d')
    const fresh = await ended(2)
    const progress: unknown[] = []
    const events: unknown[] = []
    engine.on('runs.pruned', (event) => events.push(event))

    const report = await engine.prune({
      olderThan: '1d',
      batch: 2,
      onProgress: (soFar) => progress.push(soFar),
    })

    expect(report).toEqual({ pruned: 5, batches: 3, more: false })
    expect(progress).toEqual([
      { pruned: 2, batches: 1 },
      { pruned: 4, batches: 2 },
      { pruned: 5, batches: 3 },
    ])
    expect(events).toMatchObject([{ pruned: 2 }, { pruned: 2 }, { pruned: 1 }])
    expect(await left()).toEqual(fresh)
  })

  it('with dryRun counts what it would delete, and neither deletes nor archives', async () => {
    const { clock, engine, ended, left } = await endedRuns()
    await ended(5)
    await clock.advance('2d')
    const archived: unknown[] = []
    const archive = (runs: readonly ArchivedRun[]) => void archived.push(...runs)

    const would = await engine.prune({ olderThan: '1d', dryRun: true, archive, batch: 2 })

    expect(would).toEqual({ pruned: 5, batches: 3, more: false })
    expect(archived).toEqual([])
    expect(await left()).toHaveLength(5)
    expect(await engine.prune({ olderThan: '1d', batch: 2 })).toEqual(would)
  })

  it('never deletes a run that is live or parked, however old', async () => {
    const { clock, engine, worker, sleep } = await endedRuns()
    const slow = define('slow', { version: 1 }).step('a', { run: () => sleep(3 * 86_400_000) })
    const parked = define('parked', { version: 1 })
      .step('a', { run: () => 1, compensate: { run: () => Promise.reject(new Error('no')), retry: false } })
      .step('b', { dependsOn: ['a'], retry: false, run: () => Promise.reject(new Error('no')) })
    await worker({ workflows: [slow, parked] })
    const running = await engine.run(slow)
    const stuck = await engine.run(parked)
    await clock.runUntil(stuck.result().catch(() => {}))
    await clock.advance('2d')

    expect(await engine.prune({ olderThan: 0 })).toEqual({ pruned: 0, batches: 0, more: false })
    expect((await stuck.status()).status).toBe('compensation_failed')
    await clock.runUntil(running.result(), { limit: '2d' })
  })

  it('deletes only runs of the requested workflow and final statuses', async () => {
    const { clock, engine, ended, left } = await endedRuns()
    const [one] = await ended(1)
    const [elsewhere] = await ended(1, other)
    const [failed] = await ended(1, failing)
    await clock.advance(1)

    await engine.prune({ olderThan: 0, statuses: ['failed'] })
    const withoutFailed = await left()
    await engine.prune({ olderThan: 0, workflow: 'other' })

    expect(failed).toBeDefined()
    expect(withoutFailed).toEqual([one, elsewhere])
    expect(await left()).toEqual([one])
  })

  it('stops at its limit and reports that there are more; the next call continues', async () => {
    const { clock, engine, ended } = await endedRuns()
    await ended(5)
    await clock.advance(1)

    expect(await engine.prune({ olderThan: 0, limit: 3, batch: 2 })).toEqual({
      pruned: 3,
      batches: 2,
      more: true,
    })
    expect(await engine.prune({ olderThan: 0, limit: 3 })).toEqual({ pruned: 2, batches: 1, more: false })
  })

  it('ends after the batch under way when its signal fires', async () => {
    const { clock, engine, ended, left } = await endedRuns()
    await ended(4)
    await clock.advance(1)
    const abort = new AbortController()

    const report = await engine.prune({
      olderThan: 0,
      batch: 1,
      signal: abort.signal,
      onProgress: () => abort.abort(),
    })

    expect(report).toEqual({ pruned: 1, batches: 1, more: true })
    expect(await left()).toHaveLength(3)
  })

  it('gives an archive whole runs before it deletes them', async () => {
    const { clock, engine, ended } = await endedRuns()
    const ids = await ended(3, failing)
    await clock.advance(1)
    const archived: unknown[] = []
    const present: boolean[] = []

    await engine.prune({
      olderThan: 0,
      batch: 2,
      archive: async (runs) => {
        archived.push(...runs)
        for (const { id } of runs) present.push((await engine.runs.get(id)) !== undefined)
      },
    })

    expect(archived).toMatchObject(
      ids.map((id) => ({
        id,
        workflow: 'failing',
        status: 'failed',
        cause: { type: 'step_failed', step: 'a' },
        steps: [{ name: 'a', status: 'failed', error: { message: 'no' } }],
      })),
    )
    expect(present).toEqual([true, true, true])
  })

  it('gives an archive operators’ actions on a run, and every signal it received', async () => {
    const { clock, engine, worker } = await endedRuns()
    const asking = define('asking', { version: 1 })
      .waitForSignal('go')
      .approval('may', { dependsOn: ['go'] })
    await worker({ workflows: [asking] })
    const run = await engine.run(asking)
    await clock.advance('1s')
    const caller = await worker({ workflows: [asking] })
    await caller.signal(run.id, 'go', { n: 7 }, { key: 'hook-1' })
    await clock.advance('1s')
    await run.pause({ by: 'ann', reason: 'a look' })
    await clock.advance('1s')
    await run.resume({ by: 'ann' })
    await clock.advance('1s')
    await caller.approve(run.id, 'may', { by: 'bob', comment: 'fine' })
    await clock.runUntil(run.result())
    await clock.advance(1)
    const history = await run.history()
    const archived: ArchivedRun[] = []

    await engine.prune({ olderThan: 0, workflow: 'asking', archive: (runs) => void archived.push(...runs) })

    expect(archived).toMatchObject([{ id: run.id, status: 'completed', workflow: 'asking' }])
    expect(archived[0]!.history).toEqual(history)
    expect(history).toMatchObject([
      { action: 'signal', step: 'go', key: 'hook-1', change: { n: 7 } },
      { action: 'pause', by: 'ann', reason: 'a look' },
      { action: 'resume', by: 'ann' },
      { action: 'signal', step: 'may', by: 'bob', change: { approved: true, comment: 'fine' } },
    ])
  })

  it('deletes nothing of a batch whose archive throws; earlier batches stay deleted', async () => {
    const { clock, engine, ended, left } = await endedRuns()
    const ids = await ended(5)
    await clock.advance(1)
    let calls = 0
    const archive = () => {
      calls += 1
      if (calls === 2) throw new Error('disk full')
    }

    await expect(engine.prune({ olderThan: 0, batch: 2, archive })).rejects.toThrow('disk full')

    expect(await left()).toEqual(ids.slice(2))
    expect(await engine.prune({ olderThan: 0, archive })).toMatchObject({ pruned: 3 })
  })

  it('does not delete a run that went forward again between its archiving and its deletion', async () => {
    const { clock, adapter, engine, ended, left } = await endedRuns()
    const [first, second] = await ended(2)
    await clock.advance(1)
    const archived: string[] = []
    const prune = adapter.prune.bind(adapter)
    // Stands for a store in which one of the runs has changed.
    adapter.prune = (request) => prune({ ...request, runIds: request.runIds.filter((id) => id !== first) })

    const report = await engine.prune({
      olderThan: 0,
      archive: (runs) => void archived.push(...runs.map(({ id }) => id)),
    })

    expect(archived).toEqual([first, second])
    expect(report).toMatchObject({ pruned: 1, more: false })
    expect(await left()).toEqual([first])
  })

  it('a caller that awaits a pruned run gets an error that says so', async () => {
    const { clock, engine, ended } = await endedRuns()
    const [id] = await ended(1)
    await clock.advance(1)
    await engine.prune({ olderThan: 0 })

    await expect(clock.runUntil(engine.runs.handle(id!).result())).rejects.toMatchObject({
      code: 'unknown_run',
    })
    expect(await engine.runs.get(id!)).toBeUndefined()
  })

  it.each([
    [{}, /olderThan must be given/],
    [{ olderThan: '-1d' }, /olderThan must be a duration.*; got "-1d"/],
    [{ olderThan: Number.POSITIVE_INFINITY }, /olderThan must be a duration.*; got Infinity/],
    [{ olderThan: '1d', limit: 0 }, /limit must be a whole number from 1/],
    [{ olderThan: '1d', batch: 10_001 }, /batch must be a whole number from 1 to 10000; got 10001/],
    [{ olderThan: '1d', statuses: [] }, /statuses must be one or more of 'completed', 'failed'/],
    [{ olderThan: '1d', statuses: ['running'] }, /statuses must be one or more of .*; got "running"/],
    [{ olderThan: '1d', archive: 's3' }, /archive must be a function; got "s3"/],
    [{ olderThan: '1d', workflow: 7 }, /workflow must be a string of 1 to 128 characters.*; got 7/],
    [{ olderThan: '1d', signal: {} }, /signal must be an AbortSignal; got an object/],
    [{ olderThan: '1d', onProgress: 1 }, /onProgress must be a function/],
    [{ older: '1d' }, /no option "older". .*It takes olderThan/],
  ])('refuses %j', async (options, message) => {
    await expect(
      engines()
        .engine()
        .prune(options as unknown as PruneOptions),
    ).rejects.toThrow(message)
  })

  it('is refused by a closed engine', async () => {
    const engine = createEngine({ adapter: engines().adapter })
    await engine.close()
    await expect(engine.prune({ olderThan: 0 })).rejects.toMatchObject({ code: 'engine_closed' })
  })
})

describe('runs.releaseKeys()', () => {
  it('frees a key for a new run once the run that had it ended long enough ago', async () => {
    const { clock, engine } = await endedRuns()
    const first = await engine.run(workflow, { n: 1 }, { key: 'order:1' })
    await clock.runUntil(first.result())
    await clock.advance('2d')
    const recent = await engine.run(workflow, { n: 2 }, { key: 'order:2' })
    await clock.runUntil(recent.result())

    const released = await engine.runs.releaseKeys({ olderThan: '1d' })
    const again = await engine.run(workflow, { n: 9 }, { key: 'order:1' })
    const same = await engine.run(workflow, { n: 2 }, { key: 'order:2' })

    expect(released).toEqual({ released: 1, more: false })
    expect([again.created, same.created]).toEqual([true, false])
    expect((await first.status()).key).toBeUndefined()
    expect(await clock.runUntil(again.result())).toEqual({ a: { n: 9 } })
  })

  it('releases only keys of the requested workflow, up to the limit', async () => {
    const { clock, engine } = await endedRuns()
    for (const of of [workflow, other]) {
      for (const key of ['1', '2']) await clock.runUntil((await engine.run(of, undefined, { key })).result())
    }
    await clock.advance(1)

    expect(await engine.runs.releaseKeys({ olderThan: 0, workflow: 'other', limit: 1 })).toEqual({
      released: 1,
      more: true,
    })
    expect(await engine.runs.releaseKeys({ olderThan: 0, workflow: 'other' })).toEqual({
      released: 1,
      more: false,
    })
    expect((await engine.runs.list({ key: '1' })).map((run) => run.workflow)).toEqual(['keyed'])
  })

  it.each([
    [{}, /runs.releaseKeys\(\): olderThan must be given/],
    [{ olderThan: '1d', limit: 1.5 }, /limit must be a whole number/],
    [{ olderThan: '1d', statuses: ['failed'] }, /no option "statuses"/],
  ])('refuses %j', async (options, message) => {
    await expect(
      engines()
        .engine()
        .runs.releaseKeys(options as never),
    ).rejects.toThrow(message)
  })
})
