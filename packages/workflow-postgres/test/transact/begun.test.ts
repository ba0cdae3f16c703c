import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { postgres, postgresTransaction } from '../../src/index.ts'
import { servers } from '../setup/database.ts'
import { withLedger } from './ledger.ts'

describe.each(servers)('transactional steps that are undone once they have started, on $name', ({ url }) => {
  const given = withLedger(url)

  it('are not undone if they were waiting for a transaction’s turn when their run stopped', async () => {
    const called: string[] = []
    const undone: string[] = []
    let open = () => {}
    const passed = new Promise<void>((resolve) => {
      open = resolve
    })
    const step = (name: string) => ({
      transaction: postgresTransaction(),
      compensateOn: 'started' as const,
      run: async () => {
        called.push(name)
        await passed
        throw new Error('given up')
      },
      retry: false as const,
      compensate: () => {
        undone.push(name)
      },
    })
    const workflow = define('turns', { version: 1 }).step('a', step('a')).step('b', step('b'))
    const adapter = postgres(given.database.url, { transactionsMax: 1 })
    const engine = await given.worker(workflow, { adapter })
    const run = await engine.run(workflow)
    await expect.poll(() => called.length).toBe(1)
    await expect
      .poll(async () => (await run.status())?.steps.map(({ status }) => status))
      .toEqual(['running', 'running'])

    await run.cancel()
    open()
    await run.result().catch(() => {})

    expect(called).toHaveLength(1)
    expect(undone).toEqual(called)
  })
})
