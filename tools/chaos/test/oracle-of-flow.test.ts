import { describe, expect, it } from 'vitest'
import type { CallFacts, EntryOfLimit, Facts, FiringFacts, IntentFacts } from '../src/oracle/facts.ts'
import type { FlowRules } from '../src/oracle/rules.ts'
import { callOf, kindsOf, run, step } from './facts.ts'

const NONE: FlowRules = {
  ...{ slots: [], rates: [], collecting: {} },
  ...{ ticking: 'tick', eachSecond: 'tick 0', oneAtATime: [] },
}

describe('the oracle of slots', () => {
  const rule = { limit: 'counter', most: 1, workflow: 'order', steps: ['pickUp'], key: () => 'ann' } as const
  /** Two runs whose handlers begin at 10 and at 30. */
  const two = (first: Partial<CallFacts>, more: Partial<Facts> = {}): Partial<Facts> => ({
    runs: ['r', 's'].map((id) => run(id, 'completed', [step('pickUp', 'completed')])),
    calls: [callOf('r', 'pickUp', 10, first), callOf('s', 'pickUp', 30, { endedAt: 40, worker: 'w2.1' })],
    ...more,
  })
  const kinds = (given: Partial<Facts>, of: 'call' | 'run' = 'call') =>
    kindsOf(given, { flow: { ...NONE, slots: [{ ...rule, of }] } })

  it('reports handlers that hold more slots than there are', () => {
    expect(kinds(two({ endedAt: 30 }))).toEqual([])
    expect(kinds(two({ endedAt: 31 }))).toEqual(['slots_exceeded'])
  })

  it('counts a handler until its process was gone, or its lease was over', () => {
    const lapsed = (...at: readonly number[]) => ({ lapses: new Map([['w1.1', at]]) })

    expect(kinds(two({ endedAt: null }))).toEqual(['slots_exceeded'])
    expect(kinds(two({ endedAt: null }, lapsed(30)))).toEqual([])
    expect(kinds(two({ endedAt: null }, lapsed(31)))).toEqual(['slots_exceeded'])
    expect(kinds(two({ endedAt: 600 }, lapsed(5, 30)))).toEqual([])
    expect(kinds(two({ endedAt: 600 }, lapsed(5, 31)))).toEqual(['slots_exceeded'])
  })

  it('counts a run from its first handler to its last, undos included', () => {
    const undone = (endedAt: number): Partial<Facts> => {
      const given = two({ endedAt: 12 })
      return { ...given, calls: [...given.calls!, callOf('r', 'pickUp', 20, { undo: true, endedAt })] }
    }

    expect(kinds(undone(30), 'run')).toEqual([])
    expect(kinds(undone(31), 'run')).toEqual(['slots_exceeded'])
    expect(kinds(undone(31), 'call')).toEqual([])
  })
})

describe('the oracle of rates', () => {
  const entered = (times: readonly number[]): readonly EntryOfLimit[] =>
    times.map((at, index) => ({ limit: 'desk', key: '', runId: `r${index}`, step: 0, fence: 1, at }))
  const rates = [{ name: 'desk', limit: 2, perMs: 1_000, burst: 1 }]
  const kinds = (given: readonly EntryOfLimit[]) => kindsOf({ entered: given }, { flow: { ...NONE, rates } })

  it('reports more instants in a window than limit and burst allow', () => {
    expect(kinds(entered([0, 300, 600]))).toEqual([])
    expect(kinds(entered([0, 300, 600, 999]))).toEqual(['rate_exceeded'])
    expect(kinds(entered([0, 300, 600, 1_000]))).toEqual([])
  })

  it('counts an attempt that enters again once', () => {
    const [first] = entered([0])

    expect(kinds([first!, ...Array.from({ length: 9 }, () => ({ ...first!, at: 500 }))])).toEqual([])
    const attempts = Array.from({ length: 9 }, (_, fence) => ({ ...first!, fence, at: 500 }))
    expect(kinds(attempts)).toEqual(['rate_exceeded'])
  })
})

describe('the oracle of collected calls', () => {
  const call = (key: string, runId: string | null, state = 'started', workflow = 'rows'): IntentFacts => ({
    ...{ key, workflow, kind: 'run', state, runId },
  })
  const carrying = (id: string, calls: readonly string[], workflow = 'rows') =>
    run(id, 'completed', [], { workflow, key: null, input: calls.map((one) => ({ call: one })) })
  const last = (id: string, one: string) =>
    run(id, 'completed', [], { workflow: 'edits', key: null, input: { call: one } })
  const kinds = (given: Partial<Facts>) =>
    kindsOf(given, { flow: { ...NONE, collecting: { rows: 'all', edits: 'one' } } })

  it('accepts calls that are each in the run that their answer named', () => {
    const intents = [call('a', 'r'), call('b', 'r'), call('c', null, 'rolled_back')]

    expect(kinds({ intents, runs: [carrying('r', ['a', 'b'])] })).toEqual([])
    const edits = ['a', 'b'].map((key) => call(key, 'r', 'started', 'edits'))
    expect(kinds({ intents: edits, runs: [last('r', 'b')] })).toEqual([])
  })

  it('reports a call that is lost, and one that is in two runs', () => {
    const intents = [call('a', 'r'), call('b', 'r')]

    expect(kinds({ intents, runs: [carrying('r', ['a'])] })).toEqual(['call_lost'])
    expect(kinds({ intents, runs: [carrying('r', ['a', 'b', 'b'])] })).toEqual(['call_doubled'])
    expect(kinds({ intents, runs: [carrying('r', ['a', 'b']), carrying('s', ['a'])] })).toEqual([
      'call_doubled',
    ])
  })

  it('reports a run without a call, a run that does not exist, and a call that was rolled back', () => {
    const edit = (state: string) => call('a', state === 'started' ? 'r' : null, state, 'edits')

    expect(kinds({ intents: [edit('started')], runs: [] })).toEqual(['call_lost'])
    expect(kinds({ intents: [edit('started')], runs: [last('r', 'a'), last('s', 'a')] })).toEqual([
      'call_doubled',
    ])
    expect(kinds({ intents: [edit('rolled_back')], runs: [last('r', 'a')] })).toContain('call_from_rollback')
  })
})

describe('the oracle of schedules', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString()
  const fired = (second: number, more: Partial<FiringFacts> = {}): FiringFacts => ({
    ...{ schedule: 'tick 0', key: `schedule:tick 0:${at(second)}`, cause: 'time', status: 'started' },
    ...{ runId: `r${second}`, ...more },
  })
  const ticked = (second: number, id = `r${second}`, name = 'tick 0') =>
    run(id, 'completed', [], { workflow: 'tick', key: `schedule:${name}:${at(second)}` })
  const given = (
    firings: readonly FiringFacts[],
    runs = [1, 2, 3].map((second) => ticked(second)),
  ): Partial<Facts> => ({
    ...{ runs, firings },
    schedules: [{ name: 'tick 0', from: 1_000, to: 3_000 }],
  })
  const all = [1, 2, 3].map((second) => fired(second))
  const kinds = (facts: Partial<Facts>, oneAtATime: readonly string[] = []) =>
    kindsOf(facts, { flow: { ...NONE, oneAtATime } })

  it('accepts one firing and one run for each time', () => {
    expect(kinds(given(all))).toEqual([])
  })

  it('reports a time without a run, one with two, and one that was missed', () => {
    expect(kinds(given(all.slice(1), [ticked(2), ticked(3)]))).toEqual(['firings'])
    expect(kinds(given(all, [...given(all).runs!, ticked(2, 'other')]))).toContain('firings')
    expect(kinds(given([...all.slice(1), fired(1, { status: 'missed', runId: null })]))).toEqual(['firings'])
    expect(kinds(given([...all, fired(2)]))).toEqual(['firings'])
  })

  it('reports a firing with the run of another, with a run that does not exist, and one that failed', () => {
    const other = { schedule: 'queued', key: 'schedule:queued:x' }

    expect(kinds(given([...all, fired(9, { ...other, runId: 'r1' })]))).toEqual(['firings'])
    expect(kinds(given([...all, fired(9, other)]))).toEqual(['firings'])
    expect(kinds(given([...all, fired(9, { ...other, status: 'failed', runId: null })]))).toEqual(['firings'])
    expect(kinds(given([...all, fired(9, { ...other, status: 'skipped', runId: null })]))).toEqual([])
  })

  it('reports runs beside each other of a schedule that allows one', () => {
    const beside = (endedAt: number): Partial<Facts> => ({
      runs: [1, 2].map((second) => ticked(second, `r${second}`, 'queued')),
      calls: [callOf('r1', 'tick', 10, { endedAt }), callOf('r2', 'tick', 30, { endedAt: 40 })],
    })

    expect(kinds(beside(30), ['queued'])).toEqual([])
    expect(kinds(beside(31), ['queued'])).toEqual(['firings'])
    expect(kinds(beside(31))).toEqual([])
  })

  it('reports what is left at rest', () => {
    expect(kinds({ leftovers: ['A slot is still taken.'] })).toEqual(['left_over'])
  })
})
