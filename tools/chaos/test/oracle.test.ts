import { describe, expect, it } from 'vitest'
import { BackendWatch } from '../src/oracle/backend-watch.ts'
import type { CallFacts, EffectFacts, Facts, StepFacts } from '../src/oracle/facts.ts'
import { type Lease, LeaseWatch } from '../src/oracle/lease-watch.ts'
import { callOf, effectOf, judged, run, step, kindsOf as whatIsFound } from './facts.ts'

const RULES = { effectSteps: { order: ['charge'] }, ledgerSteps: ['debit', 'credit'] }

function call(id: string, undo: boolean, beganAt: number, attempt = 1): CallFacts {
  return callOf('r', 'charge', beganAt, { id, undo, attempt })
}

function effect(undo: boolean, at: number, callId = undo ? '2' : '1'): EffectFacts {
  return effectOf('r', 'charge', at, { undo, callId })
}

/** A run whose charge was made and undone correctly. */
const UNDONE: Partial<Facts> = {
  runs: [run('r', 'compensated', [step('charge', 'compensated', { undoOf: 'completed' })])],
  calls: [call('1', false, 10), call('2', true, 30)],
  effects: [effect(false, 20), effect(true, 40)],
}

function kindsOf(given: Partial<Facts>): readonly string[] {
  return whatIsFound(given, RULES)
}

describe('the oracle of effects', () => {
  it('accepts an effect that was undone after it', () => {
    expect(kindsOf(UNDONE)).toEqual([])
  })

  it('reports an effect after its undo', () => {
    expect(kindsOf({ ...UNDONE, effects: [effect(false, 50), effect(true, 40)] })).toEqual([
      'effect_after_undo',
    ])
  })

  it('allows, and counts, an effect after its undo if its process was stopped inside the handler', () => {
    const late = { ...UNDONE, effects: [effect(false, 50), effect(true, 40)] }
    const freezes = new Map([['w1.1', [{ from: 15, to: 45 }]]])

    const { violations, exceptions } = judged({ ...late, freezes }, RULES)

    expect(violations).toEqual([])
    expect(exceptions).toEqual({ 'effects after their undo, of handlers that were stopped inside': 1 })
  })

  it('reports a handler that begins after its undo has begun, even in a process that was stopped before', () => {
    const calls = [call('1', false, 10), call('2', true, 30), call('3', false, 60)]
    const freezes = new Map([['w1.1', [{ from: 15, to: 59 }]]])

    expect(kindsOf({ ...UNDONE, calls, freezes })).toEqual(['effect_after_undo'])
  })

  it('reports an attempt that begins after a newer one has begun', () => {
    const runs = [run('r', 'completed', [step('charge', 'completed', { losses: 1 })])]
    const effects = [effect(false, 70)]

    expect(kindsOf({ runs, effects, calls: [call('1', false, 60), call('2', false, 50, 2)] })).toEqual([
      'stale_beginning',
    ])
    expect(kindsOf({ runs, effects, calls: [call('1', false, 50), call('2', false, 60, 2)] })).toEqual([])
  })

  it('reports a completed step without its effect, and an undo without its own', () => {
    expect(kindsOf({ runs: [run('r', 'completed', [step('charge', 'completed')])] })).toEqual(['effect_lost'])
    expect(kindsOf({ ...UNDONE, effects: [effect(false, 20)] })).toEqual(['effect_lost'])
  })

  it('reports an effect of a step that never began, and allows one whose outcome the row calls unknown', () => {
    const cancelled = (more: Partial<StepFacts>) => ({
      runs: [run('r', 'cancelled', [step('charge', 'cancelled', more)])],
      effects: [effect(false, 20)],
    })

    expect(kindsOf(cancelled({}))).toEqual(['effect_orphaned'])
    expect(kindsOf(cancelled({ losses: 1 }))).toEqual([])
  })

  it('reports an undo of a step whose handler never began', () => {
    const undone = [run('r', 'compensated', [step('charge', 'compensated', { undoOf: 'cancelled' })])]

    const given = { runs: undone, calls: [call('2', true, 30)], effects: [effect(true, 40)] }

    expect(kindsOf(given)).toEqual(['undo_without_beginning'])
    expect(kindsOf({ ...given, troubles: [{ from: 10, to: 20 }] })).toEqual([])
  })
})

describe('the oracle of the ledger', () => {
  const done = run('r', 'completed', [step('debit', 'completed'), step('credit', 'completed')])
  const entries = [
    { runId: 'r', step: 'debit', key: 'r:debit', account: 1, cents: -5 },
    { runId: 'r', step: 'credit', key: 'r:credit', account: 2, cents: 5 },
  ]
  const accounts = [
    { id: 1, cents: 95 },
    { id: 2, cents: 105 },
  ]

  it('accepts a ledger that adds up', () => {
    expect(kindsOf({ runs: [done], entries, accounts })).toEqual([])
  })

  it('reports a cent too much on an account', () => {
    expect(kindsOf({ runs: [done], entries, accounts: [accounts[0]!, { id: 2, cents: 106 }] })).toEqual([
      'ledger',
    ])
  })

  it('reports a duplicate entry, and a missing one', () => {
    const twice = { runs: [done], entries: [...entries, entries[0]!], accounts: [] }

    expect(kindsOf(twice)).toContain('ledger')
    expect(kindsOf({ runs: [done], entries: [entries[0]!], accounts: [] })).toContain('ledger')
  })

  it('reports an entry of a step that did not complete', () => {
    const failed = run('r', 'failed', [step('debit', 'failed', { error: {} }), step('credit', 'cancelled')])

    expect(kindsOf({ runs: [failed], entries: [entries[0]!], accounts: [] })).toContain('ledger')
  })
})

describe('the oracle of runs', () => {
  const intent = { key: 'key-r', workflow: 'order', kind: 'run', state: 'started', runId: 'r' }

  it('reports an acknowledged run that does not exist, and a duplicate run', () => {
    expect(kindsOf({ intents: [intent] })).toEqual(['run_lost'])
    expect(
      kindsOf({
        intents: [intent],
        runs: [run('r', 'completed', []), run('s', 'completed', [], { key: 'key-r' })],
      }),
    ).toEqual(['run_doubled'])
  })

  it('reports a run whose start was rolled back, and a run without the row that was committed with it', () => {
    const runs = [run('r', 'completed', [])]

    expect(kindsOf({ runs, intents: [{ ...intent, kind: 'rollback', state: 'rolled_back' }] })).toEqual([
      'run_from_rollback',
    ])
    expect(kindsOf({ runs, intents: [{ ...intent, kind: 'tx' }] })).toEqual(['order_lost'])
  })

  it('reports an acknowledged signal that became a stand-in', () => {
    const runs = [run('r', 'completed', [step('paid', 'completed', { output: { nonce: 'none' } })])]

    expect(kindsOf({ runs, receipts: [{ runId: 'r', step: 'paid', nonce: 'n', result: 'kept' }] })).toEqual([
      'signal_lost',
    ])
  })

  it('reports a step that begins in a paused run', () => {
    const pauses = [{ runId: 'r', pausedAt: 5, resumedAt: 20 }]

    expect(kindsOf({ pauses, calls: [call('1', false, 10)] })).toEqual(['began_while_paused'])
    expect(kindsOf({ pauses, calls: [call('1', false, 21)] })).toEqual([])
  })
})

describe('the watch over leases', () => {
  const lease: Lease = { runId: 'r', step: 'charge', fence: 1, worker: 'w1.1' }
  const look = (watch: LeaseWatch, { active = [], isCalm = true }: { active?: string[]; isCalm?: boolean }) =>
    watch.look([lease], { worksOn: () => new Set(active), isCalm: () => isCalm, sinceMs: 600 })

  it('reports a leased step that nobody works on', () => {
    const watch = new LeaseWatch(1_000)
    for (let times = 0; times < 3; times += 1) look(watch, {})

    expect(watch.violations.map(({ kind }) => kind)).toEqual(['leased_to_nobody'])
  })

  it('accepts a step that is worked on, and counts no time under a fault', () => {
    const [busy, troubled] = [new LeaseWatch(1_000), new LeaseWatch(1_000)]
    for (let times = 0; times < 5; times += 1) {
      look(busy, { active: ['r:charge'] })
      look(troubled, { isCalm: false })
    }

    expect([...busy.violations, ...troubled.violations]).toEqual([])
  })
})

describe('the watch over backends', () => {
  const look = (watch: BackendWatch, count: number) =>
    watch.look(new Map([['w1.1', count]]), { told: () => 7, isCalm: () => true, sinceMs: 600 })

  it('reports one backend too many that stays', () => {
    const watch = new BackendWatch(1_000)
    for (let times = 0; times < 3; times += 1) look(watch, 8)

    expect(watch.violations.map(({ kind }) => kind)).toEqual(['too_many_backends'])
  })

  it('accepts as many backends as allowed, and one more for a moment', () => {
    const watch = new BackendWatch(1_000)
    for (const count of [7, 8, 7, 8, 7, 8, 7]) look(watch, count)

    expect(watch.violations).toEqual([])
  })
})
