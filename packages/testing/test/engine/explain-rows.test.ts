import { expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'
import { explainedRun, told } from './explained-run.ts'

it('an explanation names the item, the round and the child that is waited for', async () => {
  const { clock, worker } = engines()
  const { workflow, child, open, explained } = explainedRun()
  const engine = await worker({ workflows: [workflow, child] })
  const run = await engine.run(workflow, undefined)

  await clock.advance('1s')

  expect(told(await run.explain())).toEqual(explained)
  open()
})
