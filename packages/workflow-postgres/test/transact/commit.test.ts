import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { type PostgresStepTransaction, postgres, postgresTransaction } from '../../src/index.ts'
import { servers } from '../setup/database.ts'
import { cuttingProxy, type Fate } from './cutting-proxy.ts'
import { debit, withLedger } from './ledger.ts'

describe.each(servers)('a COMMIT whose connection breaks on $name', ({ url }) => {
  const given = withLedger(url)

  /** debit → credit; each records its calls. */
  function transfer(calls: string[]) {
    const note = async (tx: PostgresStepTransaction, key: string) => {
      calls.push(key.slice(key.indexOf(':') + 1))
      await debit(tx, key)
    }
    return define('transfer', { version: 1 })
      .step('debit', {
        transaction: postgresTransaction(),
        retry: false,
        run: ({ tx, idempotencyKey }) => note(tx, idempotencyKey),
      })
      .step('credit', {
        dependsOn: ['debit'],
        transaction: postgresTransaction(),
        retry: false,
        run: ({ tx, idempotencyKey }) => note(tx, idempotencyKey),
      })
  }

  it.each<[Fate, readonly string[]]>([
    ['cut before', ['debit', 'debit', 'credit']],
    ['cut after', ['debit', 'credit']],
    ['cut, and late', ['debit', 'credit']],
  ])('(%s) is checked, and the step runs again only if the COMMIT was lost', async (fate, expected) => {
    const calls: string[] = []
    const workflow = transfer(calls)
    const adapter = postgres(await cuttingProxy(given.database.url, [fate]))
    const engine = await given.worker(workflow, { adapter })
    const run = await engine.run(workflow)

    await run.result()

    expect(calls).toEqual(expected)
    expect(await given.entries()).toEqual([`${run.id}:credit`, `${run.id}:debit`])
    for (const step of (await run.status()).steps) expect(step).toMatchObject({ failures: 0, losses: 0 })
  })

  it('at random in many runs leaves each row exactly once', async () => {
    const fates = Array.from({ length: 60 }, (_, n) => {
      const kinds: readonly Fate[] = ['passes', 'cut before', 'passes', 'cut after', 'cut, and late']
      return kinds[(n * 7 + Math.floor(n / 5)) % kinds.length]!
    })
    const workflow = transfer([])
    const adapter = postgres(await cuttingProxy(given.database.url, fates))
    const engine = await given.worker(workflow, { adapter })
    const runs = await engine.runMany(
      workflow,
      Array.from({ length: 30 }, () => ({})),
    )

    await Promise.all(runs.map((run) => run.result()))

    const expected = runs.flatMap(({ id }) => [`${id}:credit`, `${id}:debit`])
    expect(await given.entries()).toEqual(expected.sort())
    expect(fates.length).toBeLessThan(20)
  })

  it('again and again is an ordinary failure in the end', async () => {
    const calls: string[] = []
    const workflow = transfer(calls)
    const fates = Array.from({ length: 11 }, (): Fate => 'cut before')
    const engine = await given.worker(workflow, {
      adapter: postgres(await cuttingProxy(given.database.url, fates)),
    })
    const run = await engine.run(workflow)

    await expect(run.result()).rejects.toMatchObject({ code: 'run_failed' })

    expect(calls).toHaveLength(11)
    expect((await run.status()).steps[0]).toMatchObject({
      status: 'failed',
      error: { code: 'store_unavailable' },
    })
    expect(await given.entries()).toEqual([])
  })
})
