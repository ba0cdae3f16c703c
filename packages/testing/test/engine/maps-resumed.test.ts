import { createEngine, define, PermanentError } from '@belay/workflow'
import { expect, it } from 'vitest'
import { assertInvariants, memory } from '../../src/index.ts'

it('a resumption frees no item of a map that is deciding its items again', async () => {
  const adapter = memory()
  const happened: string[] = []
  const workflow = define('album', { version: 1, retry: false })
    .step('open', { run: () => 1, compensate: () => {} })
    .map('each', {
      dependsOn: ['open'],
      concurrency: 1,
      over: async () => {
        const isFirst = happened.length === 0
        happened.push('decides')
        if (!isFirst) await new Promise<void>((resolve) => void adapter.clock.after(5_000, resolve))
        happened.push('decided')
        return ['x', 'y']
      },
      run: ({ item }) => {
        happened.push(item)
        if (happened.length === 3) throw new PermanentError('broken')
        return item
      },
    })
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const run = await engine.run(workflow)
  await adapter.clock.runUntil(run.result().catch(String))

  await run.retry()
  await adapter.clock.advance(1_000)
  await run.pause()
  await run.resume()

  expect(await adapter.clock.runUntil(run.result())).toEqual({ open: 1, each: ['x', 'y'] })
  expect(happened).toEqual(['decides', 'decided', 'x', 'decides', 'decided', 'x', 'y'])
  await adapter.clock.runUntil(engine.close())
  assertInvariants(adapter.dump())
})
