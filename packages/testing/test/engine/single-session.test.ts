import { define } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { expect, it } from 'vitest'
import { memoryTransaction } from '../../src/index.ts'
import { changed, engines } from './bench-of-engines.ts'

/** A store in which a renewal waits while a transaction is open, like everything in PGlite. Calls `begins` when a transaction begins. */
function withOneSession(store: Adapter, begins: () => void): Adapter {
  let open: Promise<unknown> = Promise.resolve()
  return changed(store, {
    singleSession: true,
    transact(request) {
      begins()
      const transacted = store.transact(request)
      open = transacted.catch(() => {})
      return transacted
    },
    async renew(renewal) {
      await open
      return store.renew(renewal)
    },
  })
}

it('in a store with one session, a worker that froze while its transaction began ends it before it renews its lease', async () => {
  const { clock, adapter, worker } = engines()
  const own = {
    stoodStillMs: 0,
    now: () => clock.now() + own.stoodStillMs,
    after: (delayMs: number, fire: () => void) => clock.after(delayMs, fire),
  }
  const written: string[] = []
  const workflow = define('frozen', { version: 1 }).step('debit', {
    transaction: memoryTransaction(),
    run: ({ tx }) => {
      tx.client.onCommit(() => written.push('debit'))
      return 'written'
    },
  })
  let begun = 0
  const engine = await worker({
    adapter: withOneSession(adapter, () => {
      begun += 1
      if (begun === 1) own.stoodStillMs += 10_000
    }),
    clock: own,
    workflows: [workflow],
    lease: '3s',
    concurrency: 1,
  })

  const run = await engine.run(workflow)

  expect(await clock.runUntil(run.result(), { limit: '1m' })).toEqual({ debit: 'written' })
  expect(written).toEqual(['debit'])
})
