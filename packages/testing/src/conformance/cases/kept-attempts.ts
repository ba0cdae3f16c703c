import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  type CaseRun,
  compensated,
  completed,
  errorText,
  failed,
  LEASE_MS,
  relayed,
  released,
  retry,
  type Scenario,
  waiting,
} from '../scenario/index.ts'

/** The kept attempts of a run, one line each. */
async function kept({ adapter }: Scenario, run: CaseRun, limit = 100): Promise<readonly string[]> {
  const attempts = await adapter.readAttempts({ runId: run.id, limit })
  return attempts.map(({ name, direction, round, attempt, ended, error }) => {
    const text = error === null ? '' : ` ${JSON.parse(error).message}`
    return `${name} ${direction} ${round}.${attempt} ${ended}${text}`
  })
}

export const keptAttemptCases: Cases = {
  'attempts are kept only if asked for': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
    await worker.complete(run, 'a')
    await worker.fail(run, 'b')

    expect(await kept(given, run)).toEqual([])
    expect(await given.adapter.readAttempts({ runId: given.ids.runId(), limit: 10 })).toEqual([])
  },

  'each attempt that ends is kept once, with its worker, its times and how it ended': async (given) => {
    const run = await given.start(await given.graph('kept', { a: [], b: ['a'], c: ['b'] }))
    const worker = await given.keeper()
    const [first] = await worker.claimsOf(run, 'a')
    await given.advance(10)
    await worker.settle([retry(first!, 0, 'busy')])
    await worker.settle([retry(first!, 0, 'busy')])
    await worker.settle([released(await worker.claimOf(run, 'a'), false)])
    await given.advance(1)
    await worker.settle([released(await worker.claimOf(run, 'a'), true)])
    await given.advance(1)
    await worker.settle([waiting(await worker.claimOf(run, 'a'), { afterMs: 1 })])
    await given.advance(1)
    await worker.settle([completed(await worker.claimOf(run, 'a'))])
    await given.advance(1)
    await worker.complete(run, 'b')
    await given.advance(1)
    await worker.settle([failed(await worker.claimOf(run, 'c'), 'no')])
    await given.undo(run)
    await given.advance(1)
    await worker.settle([relayed(await worker.claimOf(run, 'b'))])
    await worker.settle([compensated(await worker.claimOf(run, 'a'))])

    expect(await kept(given, run)).toEqual([
      'a forward 1.1 retrying busy',
      'a forward 1.2 released',
      'a forward 1.3 waiting',
      'a forward 1.1 completed',
      'b forward 1.1 completed',
      'c forward 1.1 failed no',
      'a undo 1.1 compensated',
    ])
    expect(await kept(given, run, 2)).toEqual(['c forward 1.1 failed no', 'a undo 1.1 compensated'])
    const [told] = await given.adapter.readAttempts({ runId: run.id, limit: 100 })
    expect(told).toMatchObject({ step: 0, workerId: worker.id, error: errorText('busy') })
    expect(told!.finishedAt - told!.startedAt!).toBeCloseTo(10, 0)
  },

  'an attempt that is lost with its worker is kept by the sweep': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.take()
    await given.expireLeases()

    await given.adapter.sweep({ limit: 10, keepAttempts: true })

    expect(await kept(given, run)).toEqual(['a forward 1.1 lost'])
    expect(await given.adapter.readAttempts({ runId: run.id, limit: 1 })).toMatchObject([
      { workerId: worker.id },
    ])
  },

  'a handler that an operator gives up is kept as given up': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.take()
    await given.cancel(run)

    await given.operate(run, given.adapter, { attempts: 'keep' }).giveUpStep('a', { reason: 'it hangs' })

    const [line] = await kept(given, run)
    expect(line).toMatch(/^a forward 1\.1 given_up An operator gave up on the handler/)
  },

  'kept attempts move with their step, and are pruned with their run': async (given) => {
    const run = await given.start(await given.graph('w', { a: [], b: ['a'] }))
    const worker = await given.keeper()
    await worker.complete(run, 'a')
    await given.advance(1)
    await worker.settle([retry(await worker.claimOf(run, 'b'), LEASE_MS, 'later')])
    const two = await given.graph('w', { x: [], a: [], b: ['a', 'x'] }, 2)

    const { id: _, ...record } = two.saved
    await given.operator().migrateRun(run.id, { name: 'w', version: 2, record } as never)

    expect(await kept(given, run)).toEqual(['a forward 1.1 completed', 'b forward 1.1 retrying later'])
    await given.cancel(run)
    await given.undo(run, { steps: [] })
    await given.advance(1)
    await given.adapter.prune({ runIds: [run.id], finishedBefore: await given.adapter.now() })
    expect(await kept(given, run)).toEqual([])
  },
}
