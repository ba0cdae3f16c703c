import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

it('undoes a run whose child has a name that nobody knows: nothing was started', async () => {
  const { clock, worker } = engines()
  const undone: string[] = []
  const parent = define('parent', { version: 1 })
    .step('before', { run: () => 1, compensate: () => void undone.push('before') })
    .workflow('middle', 'shiping', { dependsOn: ['before'], retry: { attempts: 2, initial: '1s' } })
  const engine = await worker({ workflows: [parent] })
  const run = await engine.run(parent)

  const error = await clock.runUntil(run.result().catch((thrown: unknown) => thrown))

  expect(String(error)).toMatch(/No workflow is named "shiping": .* correct the name/)
  expect(undone).toEqual(['before'])
  expect((await engine.runs.get(run))?.status).toBe('compensated')
})
