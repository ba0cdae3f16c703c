import { describe, expect, it } from 'vitest'
import { RUNS, skipText } from '../../src/adapter/index.ts'
import type { BranchPolicy } from '../../src/definition/index.ts'
import { type BranchRow, decideBranch, judgeCase } from '../../src/engine/decisions/decide-branch.ts'

const subject = { claim: { runId: 'r' }, step: { name: 'ship' } }
const policy: BranchPolicy = {
  when: () => true,
  cases: [{ step: 1, cases: ['card'], ofOutcome: false }],
  skippedWith: [0, 1],
}
const row = (known: Partial<Omit<BranchRow, 'nameOf'>> = {}): BranchRow => ({
  own: null,
  nameOf: (step) => ['load', 'method'][step]!,
  branchOf: () => null,
  outputOf: () => '"card"',
  ...known,
})

describe('a step that may be skipped', () => {
  it('asks its function once nothing else speaks against it', () => {
    expect(decideBranch(subject, policy, row())).toMatchObject({ type: 'call' })
  })

  it('runs without a question if an earlier attempt recorded that', () => {
    const branchOf = () => skipText({ because: 'when' })
    expect(decideBranch(subject, policy, row({ own: RUNS, branchOf }))).toEqual({ type: 'runs' })
  })

  it('is skipped with the first of its dependencies that was skipped', () => {
    const branchOf = (step: number) => (step === 1 ? skipText({ because: 'when' }) : RUNS)
    expect(decideBranch(subject, policy, row({ branchOf }))).toEqual({
      type: 'skipped',
      reason: { because: 'dependency', dependency: 'method' },
    })
  })

  it.each([
    ['"invoice"', 'invoice'],
    [null, 'undefined'],
    ['7', '7'],
  ])('is skipped when its choice has the output %s', (output, told) => {
    expect(decideBranch(subject, policy, row({ outputOf: () => output }))).toEqual({
      type: 'skipped',
      reason: { because: 'case', choice: 'method', case: told },
    })
  })

  it('runs with its case if it has no function', () => {
    expect(decideBranch(subject, { ...policy, when: undefined }, row())).toEqual({ type: 'runs' })
  })
})

describe('an answer', () => {
  const answered = decideBranch(subject, policy, row())
  const judge = answered.type === 'call' ? answered.judge : () => undefined

  it('of true or false decides', () => {
    expect(judge(true)).toEqual({ type: 'decided', branch: RUNS })
    expect(judge(false)).toEqual({ type: 'skipped', reason: { because: 'when' } })
  })

  it.each([undefined, null, 0, 'true', {}])('of %o is refused for good', (answer) => {
    expect(() => judge(answer)).toThrow(/What when of step "ship" of run r returned is .* true or false/)
  })

  it('of a choice is one of its cases', () => {
    const accept = judgeCase(subject, ['card', 'invoice'])
    expect(accept('card')).toEqual({ type: 'output', value: 'card' })
    expect(() => accept('cash')).toThrow(/must be one of its cases: card, invoice\./)
  })
})
