import { define, type RunSnapshot } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const workflow = define('tagged', { version: 1 }).step('a', { run: () => 1 })

const TWENTY_ONE = Array.from({ length: 21 }, (_, n) => `t${n}`)

describe('tags of runs', () => {
  it('are shown wherever a run is shown, also for runs that are started together', async () => {
    const { engine } = engines()
    const made = engine()
    const run = await made.run(workflow, undefined, { tags: ['tenant:7', 'env:prod'] })
    const [first, second] = await made.runMany(workflow, [{ input: 1, tags: ['tenant:8'] }, { input: 2 }])

    expect((await run.status()).tags).toEqual(['tenant:7', 'env:prod'])
    expect((await made.runs.get(first!.id))?.tags).toEqual(['tenant:8'])
    expect((await made.runs.get(second!.id))?.tags).toEqual([])
    expect((await made.runs.list()).map(({ tags }) => tags)).toEqual([
      [],
      ['tenant:8'],
      ['tenant:7', 'env:prod'],
    ])
  })

  it('find runs that have all of them, and limit bulk actions to those', async () => {
    const { engine } = engines()
    const made = engine()
    const start = async (...tags: readonly string[]) => (await made.run(workflow, undefined, { tags })).id
    const [both, one, none] = [await start('a', 'b'), await start('a'), await start()]

    expect(ids(await made.runs.list({ tags: ['a'] }))).toEqual([one, both])
    expect(ids(await made.runs.list({ tags: ['b', 'a'] }))).toEqual([both])
    expect((await made.runs.pauseMany({ tags: ['a', 'b'] })).runIds).toEqual([both])
    expect((await made.runs.resumeMany({ tags: ['b'] })).runIds).toEqual([both])
    expect((await made.runs.cancelMany({ tags: ['a'] })).runIds).toEqual([one, both])
    expect((await made.runs.get(none))?.status).toBe('running')
  })

  it('stay with a run that is retried, and are given to an archive', async () => {
    const { engine, worker, clock } = engines()
    let broken = true
    const failing = define('failing', { version: 1 }).step('a', {
      retry: false,
      run: () => (broken ? Promise.reject(new Error('no')) : 1),
    })
    const made = await worker({ workflows: [failing] })
    const run = await made.run(failing, undefined, { tags: ['a', 'b'] })
    await made.run(failing, undefined, { tags: ['b'] })
    await clock.runUntil(run.result().catch(() => {}))
    broken = false

    const retried = await made.runs.retryMany({ tags: ['a'] })
    await clock.runUntil(run.result())
    await clock.advance('1m')
    const archived: RunSnapshot[] = []
    const pruned = await engine().prune({
      olderThan: '1s',
      tags: ['a', 'b'],
      workflow: ['failing', 'other'],
      archive: (runs) => void archived.push(...runs),
    })

    expect(retried.runIds).toEqual([run.id])
    expect(pruned.pruned).toBe(1)
    expect(archived).toMatchObject([{ id: run.id, status: 'completed', tags: ['a', 'b'] }])
  })

  it('are part of every event of their run', async () => {
    const { worker, clock } = engines()
    const made = await worker({ workflows: [workflow] })
    const told: unknown[] = []
    for (const event of ['run.started', 'run.paused', 'run.resumed', 'run.completed'] as const) {
      made.on(event, ({ tags }) => told.push([event, tags]))
    }
    const run = await made.run(workflow, undefined, { tags: ['a', 'b'], delay: '10s' })
    await run.pause()
    await run.resume()
    await clock.runUntil(run.result(), { limit: '1m' })

    expect(told).toEqual(
      ['run.started', 'run.paused', 'run.resumed', 'run.completed'].map((event) => [event, ['a', 'b']]),
    )
  })

  it('select the runs whose keys are released', async () => {
    const { worker, clock } = engines()
    const made = await worker({ workflows: [workflow] })
    const run = await made.run(workflow, undefined, { key: 'k1', tags: ['a'] })
    const other = await made.run(workflow, undefined, { key: 'k2', tags: ['b'] })
    await clock.runUntil(Promise.all([run.result(), other.result()]))
    await clock.advance('1m')

    expect(await made.runs.releaseKeys({ olderThan: '1s', tags: ['a'], workflow: ['tagged'] })).toMatchObject(
      {
        released: 1,
      },
    )
    expect((await other.status()).key).toBe('k2')
  })

  it('belong to the first start with a key: a later start does not change them', async () => {
    const { engine } = engines()
    const made = engine()
    const run = await made.run(workflow, undefined, { key: 'k', tags: ['first'] })

    const again = await made.run(workflow, undefined, { key: 'k', tags: ['second'] })

    expect(again.id).toBe(run.id)
    expect((await again.status()).tags).toEqual(['first'])
  })

  it.each([
    ['no array', 'tenant:7', /run.*tags must be an array of up to 20 .*; got "tenant:7"/],
    ['null', null, /tags must be an array .*; got null/],
    ['an empty text', [''], /each a string of 1 to 200 characters.*; got 0 characters at index 0/],
    ['a long text', ['a', 'x'.repeat(201)], /got 201 characters at index 1/],
    ['a number', [7], /got 7 at index 0/],
    ['a hole', new Array(1), /got undefined at index 0/],
    ['NUL', ['a\0'], /got a string with NUL in it at index 0/],
    ['half a character', ['a\ud800'], /got a string with an unpaired surrogate at index 0/],
    ['one twice', ['a', 'b', 'a'], /got "a" twice/],
    ['too many', TWENTY_ONE, /up to 20 .*; got 21 of them/],
  ])('are refused with a reason before anything is stored: %s', async (_what, tags, why) => {
    const { engine } = engines()
    const made = engine()
    const given = { tags: tags as readonly string[] }

    for (const start of [() => made.run(workflow, undefined, given), () => made.runMany(workflow, [given])]) {
      await expect(start()).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(why),
      })
    }
    expect(await made.runs.list()).toEqual([])
  })

  it('may be many, long, and of almost any characters', async () => {
    const { engine } = engines()
    const made = engine()
    const tags = [...TWENTY_ONE.slice(0, 18), '🎉'.repeat(100), 'a "b" {c}, \\d']

    const run = await made.run(workflow, undefined, { tags })

    expect((await run.status()).tags).toEqual(tags)
    expect(ids(await made.runs.list({ tags }))).toEqual([run.id])
  })
})

function ids(runs: readonly { readonly id: string }[]): readonly string[] {
  return runs.map(({ id }) => id)
}
