import type { GraphHandlerContext, StepEvent } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import type { Dump, RunDump } from '../../src/invariants/index.ts'
import { Effects } from '../../src/simulation/effects.ts'
import type { Plan } from '../../src/simulation/plan.ts'

const FENCE = 3
const PLAN = {
  name: 'w0',
  versions: [{ steps: { charge: { handler: 'work', compensate: 'undo' } } }],
} as unknown as Plan

/** A ledger over a store with one run of one step, which this worker holds. */
function ledger() {
  const violations: string[] = []
  let status = 'running'
  const found = () =>
    ({
      run: { runId: 'r1', status: status === 'running' ? 'running' : 'cancelled' },
      steps: [{ name: 'charge', status, workerId: status === 'running' ? 'me' : null, fence: FENCE }],
    }) as unknown as RunDump
  const effects = new Effects({
    dump: async () => ({ runs: [found()] }) as unknown as Dump,
    plans: new Map([['w0', PLAN]]),
    broken: (violation) => violations.push(violation),
  })
  const stop = new AbortController()
  const identity = { runId: 'r1', step: 'charge' }
  effects.announce({ ...identity, workflow: 'w0', workerId: 'me' } as unknown as StepEvent)
  const call = effects.called({
    ...identity,
    idempotencyKey: 'r1:0',
    signal: stop.signal,
  } as unknown as GraphHandlerContext<unknown>)
  return {
    happen: () => call.happen(),
    abort: () => stop.abort(),
    letGo: (fence: number) => {
      status = 'cancelled'
      effects.letGo('r1', 'charge', fence)
    },
    violations: () => {
      effects.checkEnd(found(), [])
      return violations
    },
  }
}

describe('an effect of a cancelled step that the undo report leaves out', () => {
  it('is a violation if its worker held the step and waited for it', async () => {
    const { happen, letGo, violations } = ledger()
    await happen()
    letGo(FENCE)
    expect(violations().join()).toMatch(/the effect r1:0 of step charge \(cancelled\) exists/)
  })

  it('is none if its worker had given it up before, and the store heard of that later', async () => {
    const { happen, abort, letGo, violations } = ledger()
    abort()
    await happen()
    letGo(FENCE)
    expect(violations()).toEqual([])
  })

  it('is a violation if its signal was aborted, but another attempt was given up', async () => {
    const { happen, abort, letGo, violations } = ledger()
    abort()
    await happen()
    letGo(FENCE - 1)
    expect(violations().join()).toMatch(/the effect r1:0 of step charge \(cancelled\) exists/)
  })
})
