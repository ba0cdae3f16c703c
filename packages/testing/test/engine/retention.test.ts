import { define, type RetentionPolicy } from '@belay/workflow'
import { describe, expect, it, vi } from 'vitest'
import { engines } from './bench-of-engines.ts'
import { endedRuns, failing, workflow } from './ended-runs.ts'

describe('retention by policy', () => {
  it('prunes runs older than the age for their final status, and releases keys', async () => {
    const { clock, engine, worker, left } = await endedRuns()
    const completed = await engine.run(workflow, 1, { key: 'k' })
    const failed = await engine.run(failing)
    await clock.runUntil(completed.result())
    await clock.runUntil(failed.result().catch(() => {}))
    const keeper = await worker({ retention: { completed: '10d', keys: '1d', every: '1m' } })
    const events: unknown[] = []
    keeper.on('runs.pruned', (event) => events.push(event))
    keeper.on('runs.keys_released', (event) => events.push(event))

    await clock.advance('23h')
    const keyed = (await completed.status()).key
    await clock.advance('2h')
    const released = (await completed.status()).key
    await clock.advance('9d')

    expect([keyed, released]).toEqual(['k', undefined])
    expect(await left()).toEqual([failed.id])
    expect(events).toEqual([{ released: 1 }, { pruned: 1, statuses: ['completed'] }])
  })

  it('prunes nothing unless configured', async () => {
    const { clock, ended, left } = await endedRuns()
    const ids = await ended(3)
    await clock.advance('10d')
    expect(await left()).toEqual(ids)
  })

  it('reads a long history once, and later only the runs that have ended since', async () => {
    const { clock, adapter, ended, worker } = await endedRuns()
    await ended(20, failing)
    const looked: (string | null)[] = []
    const findEnded = adapter.findEnded.bind(adapter)
    adapter.findEnded = (request) => {
      looked.push(request.after)
      return findEnded(request)
    }
    await clock.advance('1s')
    await worker({ retention: { completed: 0, every: '1m' } })

    await clock.advance('1h')
    const firstDay = looked.filter((after) => after === null).length
    await clock.advance('24h')

    expect(firstDay).toBe(1)
    expect(looked.filter((after) => after === null)).toHaveLength(2)
  })

  it('reports an archive that fails, keeps its runs, and tries again', async () => {
    const { clock, ended, left, worker } = await endedRuns()
    const ids = await ended(2)
    const errors: unknown[] = []
    let broken = true
    const keeper = await worker({
      retention: {
        completed: '1m',
        every: '1m',
        archive: () => {
          if (broken) throw new Error('disk full')
        },
      },
    })
    keeper.on('error', ({ during, error }) => errors.push(during, (error as Error).message))

    await clock.advance('150s')
    const kept = await left()
    broken = false
    await clock.advance('2m')

    expect(kept).toEqual(ids)
    expect(errors.slice(0, 2)).toEqual(['pruning', 'disk full'])
    expect(await left()).toEqual([])
  })

  it('a batch that never ends delays no claims and renewals, and does not delay the stop', async () => {
    const { clock, adapter, ended, worker } = await endedRuns()
    await ended(1)
    await clock.advance('2m')
    const slow = vi.spyOn(adapter, 'prune').mockImplementation(() => new Promise(() => {}))
    const busy = define('busy', { version: 1 }).step('a', { run: () => 'done' })
    const keeper = await worker({
      workflows: [busy],
      tick: '200ms',
      lease: '3s',
      retention: { completed: '1m' },
    })
    const lost: unknown[] = []
    keeper.on('lease.lost', (event) => lost.push(event))
    await clock.advance('1m')
    const startedAt = clock.now()

    const run = await keeper.run(busy)
    const result = await clock.runUntil(run.result())
    const ranFor = clock.now() - startedAt
    await clock.runUntil(keeper.stop())

    expect(slow).toHaveBeenCalled()
    expect(result).toEqual({ a: 'done' })
    expect(ranFor).toBeLessThan(500)
    expect(lost).toEqual([])
    expect(clock.now() - startedAt).toBeLessThan(10_000)
  })

  it('stops with the worker', async () => {
    const { clock, ended, left, worker } = await endedRuns()
    const keeper = await worker({ retention: { completed: '1h', every: '1m' } })
    const ids = await ended(1)
    await clock.runUntil(keeper.stop())
    await clock.advance('2d')
    expect(await left()).toEqual(ids)
  })

  it.each([
    [
      { done: '1d' },
      /retention has no option "done".*It takes completed, failed, compensated, cancelled, keys/,
    ],
    [{ completed: 'soon' }, /completed must be a duration.*; got "soon"/],
    [{ every: '10ms' }, /every must be a duration from 1s to 1d/],
    [{ batch: 0 }, /batch must be a whole number/],
    [{ archive: {} }, /archive must be a function/],
    ['30d', /must be an object with completed/],
  ])('refuses %j', (retention, message) => {
    expect(() => engines().engine({ retention: retention as unknown as RetentionPolicy })).toThrow(message)
  })
})
