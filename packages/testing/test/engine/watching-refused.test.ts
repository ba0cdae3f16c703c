import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { changed, engines } from './bench-of-engines.ts'

const order = define('order', { version: 1 })
  .waitForSignal('go')
  .step('ship', { dependsOn: ['go'], run: () => 'shipped' })

it.each(['observeRuns', 'readRun'] as const)(
  'a run that the store refuses to show keeps no watcher of another run waiting: %s',
  async (verb) => {
    const { clock, worker, adapter } = engines()
    let bad = ''
    const refuse = (ids: readonly string[]) => {
      if (ids.includes(bad)) throw new Error('missing chunk number 0 for toast value')
    }
    const refusing = changed(adapter, {
      observeRuns: async (runIds) => {
        if (verb === 'observeRuns') refuse(runIds)
        return adapter.observeRuns(runIds)
      },
      readRun: async (runId, items) => {
        if (verb === 'readRun') refuse([runId])
        return adapter.readRun(runId, items)
      },
    })
    const engine = await worker({ workflows: [order], adapter: refusing, logger: false })
    const runs = await engine.runMany(order, [{}, {}, {}])
    bad = runs[0]!.id
    const seen: string[] = []
    for (const run of runs)
      void (async () => {
        for await (const change of run.watch())
          if (change.type === 'run') seen.push(`${run.id} ${change.status}`)
      })().catch(() => {})
    await clock.advance('5s')

    for (const run of runs) await run.signal('go', 1)
    await clock.advance('30s')

    expect(seen).toEqual(expect.arrayContaining(runs.slice(1).map(({ id }) => `${id} completed`)))
    expect(seen.some((line) => line.startsWith(bad))).toBe(false)

    // Once it can be read again, its watcher goes on.
    bad = ''
    await clock.advance('60s')
    expect(seen).toContain(`${runs[0]!.id} completed`)
  },
)
