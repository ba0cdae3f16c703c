import { define, PermanentError } from '@belay/workflow'
import { type Adapter, StoreUnavailableError } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { memoryTransaction } from '../../src/index.ts'
import { changed, engines, gate, StoppableClock, statuses } from './bench-of-engines.ts'

/** A step that records in a ledger what it did, through its transaction. */
function ledgerOf(entries: string[]) {
  return define('ledger', { version: 1 }).step('debit', {
    transaction: memoryTransaction(),
    retry: { retries: 2, initial: '1s', jitter: false },
    run: ({ tx, idempotencyKey }) => {
      tx.client.onCommit(() => entries.push(idempotencyKey))
      return 'debited'
    },
  })
}

function conflict(): Error {
  return Object.assign(new Error('could not serialize access'), { code: '40001' })
}

/** A store whose `transact` fails a few times: the connection is lost before it, or after it took effect. */
function unreliable(store: Adapter, fates: ('before' | 'after' | 'conflict')[]): Adapter {
  const transact: Adapter['transact'] = async (request) => {
    const fate = fates.shift()
    if (fate === 'before') throw new StoreUnavailableError('cut before it began')
    if (fate === 'conflict') {
      return store.transact({
        ...request,
        work: async (tx) => {
          await request.work(tx)
          throw conflict()
        },
      })
    }
    const transacted = await store.transact(request)
    if (fate === 'after') throw new StoreUnavailableError('cut at COMMIT')
    return transacted
  }
  return changed(store, { transact })
}

describe('transactional steps', () => {
  it('commit their writes with their settlement, and hand back the steps they made ready', async () => {
    const { clock, worker } = engines()
    const entries: string[] = []
    const workflow = ledgerOf(entries).step('mail', {
      dependsOn: ['debit'],
      run: ({ deps }) => `${deps.debit}: ${entries.length}`,
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    const outputs = await clock.runUntil(run.result())

    expect(outputs).toEqual({ debit: 'debited', mail: 'debited: 1' })
    expect(entries).toEqual([`${run.id}:debit`])
  })

  it('leave nothing behind when they fail, whatever they wrote before, and are retried as usual', async () => {
    const { clock, worker } = engines()
    const entries: string[] = []
    const attempts: number[] = []
    const workflow = define('fails', { version: 1 }).step('debit', {
      transaction: memoryTransaction(),
      retry: { retries: 2, initial: '1s', jitter: false },
      run: ({ tx, attempt }) => {
        tx.client.onCommit(() => entries.push(`attempt ${attempt}`))
        attempts.push(attempt)
        if (attempt < 3) throw new Error('not yet')
      },
    })
    const engine = await worker({ workflows: [workflow] })

    await clock.runUntil((await engine.run(workflow)).result())

    expect(attempts).toEqual([1, 2, 3])
    expect(entries).toEqual(['attempt 3'])
  })

  it('are repeated without counting an attempt if the store rolls them back for others, but not forever', async () => {
    const { clock, worker } = engines()
    const calls: number[] = []
    const workflow = define('conflicts', { version: 1 }).step('debit', {
      transaction: true,
      retry: { retries: 1, initial: '1s', jitter: false },
      run: ({ attempt }) => {
        calls.push(attempt)
        // Once more than may be repeated without counting.
        if (calls.length <= 11) throw new Error('query failed', { cause: conflict() })
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    await clock.runUntil(run.result())

    expect(calls).toEqual([...Array.from({ length: 11 }, () => 1), 2])
    expect((await run.status()).steps[0]).toMatchObject({ failures: 1, losses: 0 })
  })

  it('also repeat a conflict at COMMIT, with nothing of the first run left', async () => {
    const { clock, adapter: store, worker } = engines()
    const entries: string[] = []
    const workflow = ledgerOf(entries)
    const engine = await worker({
      adapter: unreliable(store, ['conflict', 'conflict']),
      workflows: [workflow],
    })
    const run = await engine.run(workflow)

    await clock.runUntil(run.result())

    expect(entries).toEqual([`${run.id}:debit`])
    expect((await run.status()).steps[0]).toMatchObject({ failures: 0, losses: 0 })
  })

  it('whose COMMIT was not answered are looked up: if recorded, they do not run again', async () => {
    const { clock, adapter: store, worker } = engines()
    const entries: string[] = []
    let calls = 0
    const workflow = define('unanswered', { version: 1 })
      .step('debit', {
        transaction: memoryTransaction(),
        run: ({ tx }) => {
          calls += 1
          tx.client.onCommit(() => entries.push('debited'))
        },
      })
      .step('mail', { dependsOn: ['debit'], run: () => 'sent' })
    const engine = await worker({
      adapter: unreliable(store, ['before', 'after']),
      workflows: [workflow],
    })
    const run = await engine.run(workflow)

    // The claim of `mail` was handed back in the lost answer: the worker finds it with `held`.
    const outputs = await clock.runUntil(run.result(), { limit: '20s' })

    expect(outputs).toMatchObject({ mail: 'sent' })
    expect(calls).toBe(1)
    expect(entries).toEqual(['debited'])
  })

  it('roll back when they time out, and later queries of their handlers reach nothing', async () => {
    const { clock, worker, sleep } = engines()
    const entries: string[] = []
    const late: unknown[] = []
    const workflow = define('slow', { version: 1 }).step('debit', {
      transaction: memoryTransaction(),
      timeout: '1s',
      retry: false,
      run: async ({ tx }) => {
        tx.client.onCommit(() => entries.push('in time'))
        await sleep(5_000)
        try {
          tx.client.onCommit(() => entries.push('late'))
        } catch (error) {
          late.push((error as { code: string }).code)
        }
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    const error = await clock.runUntil(run.result().catch((failure: unknown) => failure))
    await clock.advance('10s')

    expect(error).toMatchObject({ code: 'run_failed' })
    expect(entries).toEqual([])
    expect(late).toEqual(['transaction_ended'])
  })

  it('of a zombie are rolled back: the fence holds at the end of the transaction', async () => {
    const { clock, worker } = engines()
    const entries: string[] = []
    const stall = gate()
    const define_ = (name: string, wait: () => Promise<void>) =>
      define('zombie', { version: 1 }).step('debit', {
        transaction: memoryTransaction(),
        run: async ({ tx }) => {
          tx.client.onCommit(() => entries.push(name))
          await wait()
          return name
        },
      })
    const zombieFlow = define_('zombie', () => stall.passed)
    const liveFlow = define_('living', async () => {})
    const stopped = new StoppableClock(clock)
    const zombie = await worker({ workflows: [zombieFlow], clock: stopped, lease: '3s' })
    const told: unknown[] = []
    zombie.on('step.discarded', ({ reason }) => told.push(reason))
    const run = await zombie.run(zombieFlow)
    await clock.advance('100ms')
    stopped.stop()

    const living = await worker({ workflows: [liveFlow], lease: '3s' })
    const outputs = await clock.runUntil(living.runs.handle(run.id).result())
    stall.open()
    await clock.advance('10ms')

    expect(outputs).toEqual({ debit: 'living' })
    expect(entries).toEqual(['living'])
    expect(told).toEqual(['lease_lost'])
  })

  it('can be undone once, in their own transaction, while their neighbours fail', async () => {
    const { clock, worker } = engines()
    const entries: string[] = []
    let undos = 0
    const workflow = define('undone', { version: 1 })
      .step('debit', {
        transaction: memoryTransaction(),
        run: ({ tx }) => tx.client.onCommit(() => entries.push('debit')),
        compensate: {
          transaction: memoryTransaction(),
          retry: { retries: 3, initial: '1s', jitter: false },
          run: ({ tx }) => {
            tx.client.onCommit(() => entries.push('credit'))
            undos += 1
            if (undos === 1) throw conflict()
            if (undos === 2) throw new Error('not yet')
          },
        },
      })
      .step('ship', {
        dependsOn: ['debit'],
        run: () => {
          throw new PermanentError('nothing to ship')
        },
      })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    await clock.runUntil(run.result().catch(() => {}))

    expect(entries).toEqual(['debit', 'credit'])
    expect(statuses(await run.status())).toEqual({ debit: 'compensated', ship: 'failed' })
    expect(undos).toBe(3)
  })

  it('for which a leaving worker cannot wait are rolled back, and released without counting an attempt', async () => {
    const { clock, worker, engine } = engines()
    const entries: string[] = []
    const workflow = define('leaving', { version: 1 }).step('debit', {
      transaction: memoryTransaction(),
      run: ({ tx }) => {
        tx.client.onCommit(() => entries.push('never'))
        return new Promise(() => {})
      },
    })
    const leaving = await worker({ workflows: [workflow] })
    const run = await leaving.run(workflow)
    await clock.advance('100ms')

    await clock.runUntil(leaving.stop({ timeout: '1s' }))

    expect(entries).toEqual([])
    expect((await engine().runs.get(run.id))?.steps[0]).toMatchObject({ status: 'ready', failures: 0 })
  })

  it('whose output cannot be stored fail at once, with nothing written', async () => {
    const { clock, worker } = engines()
    const entries: string[] = []
    const workflow = define('unstorable', { version: 1 }).step('debit', {
      transaction: memoryTransaction(),
      run: ({ tx }) => {
        tx.client.onCommit(() => entries.push('never'))
        return { amount: 3n } as unknown
      },
    })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).steps[0]).toMatchObject({ status: 'failed', failures: 0 })
    expect(entries).toEqual([])
  })

  it('whose output the store refuses fail at once with the store’s reason, with nothing written', async () => {
    const { clock, worker, adapter } = engines()
    const entries: string[] = []
    const refusing = changed(adapter, {
      transact: (request) =>
        adapter.transact({
          ...request,
          async work(tx) {
            const done = await request.work(tx)
            return done && { ...done, outcome: { ...done.outcome, type: 'completed', output: '{"cut off' } }
          },
        }),
    })
    const workflow = define('refused', { version: 1 }).step('debit', {
      transaction: memoryTransaction(),
      run: ({ tx }) => {
        tx.client.onCommit(() => entries.push('never'))
        return { amount: 3 }
      },
    })
    const engine = await worker({ adapter: refusing, workflows: [workflow] })

    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).steps[0]).toMatchObject({
      status: 'failed',
      failures: 0,
      succeeded: false,
      error: {
        code: 'payload_unserialisable',
        message: expect.stringMatching(
          /^Output of step "debit" of run \S+ cannot be stored: .*not JSON: .*\. Return/,
        ),
      },
    })
    expect(entries).toEqual([])
  })

  it('do not delay the adoption of claims whose answer was lost', async () => {
    const { clock, engine, worker, adapter } = engines()
    const starter = engine()
    const stall = gate()
    let lost = 0
    const losing = changed(adapter, {
      async claim(request) {
        const claimed = await adapter.claim(request)
        if (claimed === 'lost' || claimed.claims.length === 0 || lost > 0) return claimed
        lost += 1
        throw new StoreUnavailableError('the answer was lost')
      },
    })
    const slow = define('slow', { version: 1 }).step('slow', {
      transaction: true,
      run: () => stall.passed,
    })
    const quick = define('quick', { version: 1 }).step('quick', { run: () => 'done' })
    await worker({ adapter: losing, workflows: [slow, quick] })
    // Started elsewhere, so that they are claimed through the queue.
    const held = await starter.run(slow)
    await clock.advance('500ms')
    const run = await starter.run(quick)

    expect(await clock.runUntil(run.result(), { limit: '10s' })).toEqual({ quick: 'done' })
    stall.open()
    await clock.runUntil(held.result())
    expect(lost).toBe(1)
  })
})
