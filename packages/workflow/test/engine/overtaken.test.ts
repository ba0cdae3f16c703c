import { describe, expect, it } from 'vitest'
import type { Claim } from '../../src/adapter/index.ts'
import type { Attempt } from '../../src/engine/attempt/attempt.ts'
import { overtakenBy } from '../../src/engine/worker/overtaken.ts'

const claim = (over: Partial<Claim>) =>
  ({ runId: 'r', step: 1, fence: 1, direction: 'forward', ...over }) as Claim
const attempt = (over: Partial<Claim>, phase: Attempt['phase']) => ({ claim: claim(over), phase }) as Attempt

describe('an undo that overtakes what waits', () => {
  it('gives up the forward attempts of its own step that have no outcome, and no others', () => {
    const queued = attempt({}, 'queued')
    const running = attempt({}, 'running')
    const others = [
      attempt({}, 'settling'),
      attempt({ step: 2 }, 'queued'),
      attempt({ runId: 'other' }, 'queued'),
      attempt({ direction: 'undo' }, 'queued'),
    ]

    const overtaken = overtakenBy([claim({ direction: 'undo', fence: 2 })], [queued, ...others, running])

    expect(overtaken).toEqual([queued, running])
  })

  it('is not looked for among claims that go forward', () => {
    expect(overtakenBy([claim({ fence: 2 })], [attempt({}, 'queued')])).toEqual([])
  })
})
