import { describe, expect, it } from 'vitest'
import { engines, gate } from './bench-of-engines.ts'
import { expectRepairs, parkedWorkflow } from './repaired-steps.ts'

describe('verbs that repair a step', () => {
  it('answer what became of it and what comes next; an export has all of it, without payloads unless asked', async () => {
    const { worker, clock } = engines()
    const parked = parkedWorkflow()
    const engine = await worker({ workflows: [parked.workflow], attempts: 'keep' })

    await expectRepairs(engine, parked, (promise) => clock.runUntil(promise))
  })

  it('of a step that a worker holds are refused as before', async () => {
    const { worker, clock } = engines()
    const { bank, workflow } = parkedWorkflow()
    bank.isDown = false
    const held = gate()
    const slow = workflow.step('wait', { dependsOn: ['reserve'], run: () => held.passed })
    const engine = await worker({ workflows: [slow] })
    const run = await engine.run(slow)
    await clock.advance('1s')

    await expect(run.retryStep('wait')).rejects.toMatchObject({ code: 'action_refused' })
    held.open()
  })
})
