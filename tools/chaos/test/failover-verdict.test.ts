import { expect, test } from 'vitest'
import { type Found, violationsOf } from '../src/failover/verdict.ts'

const effect = (step: string, changed = {}) => ({
  ...{ workflow: 'a', runId: '1', step, key: `1/${step}`, of: 'a' },
  ...changed,
})
const run = { id: '1', workflow: 'a', defined: 'a', status: 'completed', of: 'a' }
const good: Found = {
  runs: [run],
  effects: [effect('first'), effect('limited')],
  started: new Map([['1', 'a']]),
  ended: new Map([['1', 'completed']]),
  late: [],
}

test('a failover is good if runs ended, effects fit, and everyone who waited was told', () => {
  const repeated = { effects: [...good.effects, effect('first')] }
  const lost = { started: new Map([['2', 'a']]), ended: new Map([['2', 'run_lost']]) }

  expect(violationsOf(good)).toEqual([])
  expect(violationsOf({ ...good, ...repeated })).toEqual([])
  expect(violationsOf({ ...good, ...lost })).toEqual([])
})

test.each([
  [
    'a handler that had the input of another workflow',
    { effects: [...good.effects, effect('first', { of: 'b' })] },
  ],
  ['a run that is stored as one of another workflow', { runs: [{ ...run, defined: 'b' }] }],
  ['a run without a definition', { runs: [{ ...run, defined: null }] }],
  ['a run that has not ended', { runs: [{ ...run, status: 'running' }] }],
  ['a completed step without an effect', { effects: [effect('first')] }],
  ['a step with two idempotency keys', { effects: [...good.effects, effect('first', { key: 'other' })] }],
  ['a waiter that nobody told', { ended: new Map() }],
  ['a run that is stored and was called lost', { ended: new Map([['1', 'run_lost']]) }],
  ['what took too long', { late: ['too long'] }],
])('a failover is broken by %s', (_, changed) => {
  expect(violationsOf({ ...good, ...changed })).toHaveLength(1)
})
