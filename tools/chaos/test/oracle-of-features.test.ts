import { describe, expect, it } from 'vitest'
import type { Facts } from '../src/oracle/facts.ts'
import type { Rules } from '../src/oracle/rules.ts'
import { callOf, effectOf, judged, kindsOf, run, step } from './facts.ts'

/** `charge` builds on `reserve`; both have an effect at the given times, and an undo. */
function twoSteps({
  charged,
  undone,
}: {
  readonly charged: number
  readonly undone: readonly [number, number]
}) {
  const rules: Partial<Rules> = { graphs: { order: new Map([['charge', new Set(['reserve'])]]) } }
  const steps = ['reserve', 'charge'].map((name) => step(name, 'compensated', { undoOf: 'completed' }))
  const undo = { undo: true }
  const given: Partial<Facts> = {
    runs: [run('r', 'compensated', steps)],
    calls: [
      callOf('r', 'reserve', 10),
      callOf('r', 'charge', charged),
      callOf('r', 'charge', undone[0], undo),
      callOf('r', 'reserve', undone[1], undo),
    ],
    effects: [
      effectOf('r', 'reserve', 15),
      effectOf('r', 'charge', charged + 5),
      effectOf('r', 'charge', undone[0] + 5, undo),
      effectOf('r', 'reserve', undone[1] + 5, undo),
    ],
  }
  return kindsOf(given, rules)
}

describe('the oracle of order', () => {
  it('accepts steps that are undone in reverse order', () => {
    expect(twoSteps({ charged: 20, undone: [40, 50] })).toEqual([])
  })

  it('reports a step that begins before the effect that it builds on, and an undo in the wrong order', () => {
    expect(twoSteps({ charged: 12, undone: [40, 50] })).toEqual(['out_of_order'])
    expect(twoSteps({ charged: 20, undone: [60, 50] })).toEqual(['out_of_order'])
  })

  it('reports rounds of a loop that are undone in the wrong order', () => {
    const rules = { graphs: { order: new Map([['fetch', new Set<string>()]]) }, loops: { order: ['fetch'] } }
    const rounds = ['fetch[1]', 'fetch[2]'].map((name) => step(name, 'compensated', { undoOf: 'completed' }))
    const undone = (first: number, second: number): Partial<Facts> => ({
      runs: [run('r', 'compensated', rounds)],
      calls: [
        callOf('r', 'fetch[1]', first, { undo: true }),
        callOf('r', 'fetch[2]', second, { undo: true }),
      ],
      effects: [
        effectOf('r', 'fetch[1]', first + 5, { undo: true }),
        effectOf('r', 'fetch[2]', second + 5, { undo: true }),
      ],
    })

    expect(kindsOf(undone(50, 40), rules)).toEqual([])
    expect(kindsOf(undone(40, 50), rules)).toEqual(['out_of_order'])
  })

  it('reports a child that is undone after what its step builds on', () => {
    const rules: Partial<Rules> = {
      graphs: { order: new Map([['deliver', new Set(['reserve'])]]) },
      children: { deliver: { workflow: 'delivery', isDetached: false } },
    }
    const parent = run('p', 'compensated', [step('reserve', 'compensated'), step('deliver', 'compensated')])
    const child = run('c', 'cancelled', [step('label', 'compensated')], {
      ...{ workflow: 'delivery', parentId: 'p' },
    })
    const undone = (label: number): Partial<Facts> => ({
      runs: [parent, child],
      calls: [callOf('p', 'reserve', 50, { undo: true })],
      effects: [effectOf('c', 'label', label, { undo: true })],
    })

    expect(kindsOf(undone(45), rules)).toEqual([])
    expect(kindsOf(undone(55), rules)).toEqual(['out_of_order'])
  })

  it('compares the children of a run that was undone twice by their newest round', () => {
    const rules: Partial<Rules> = {
      graphs: { order: new Map([['deliver', new Set(['quote'])]]) },
      children: {
        quote: { workflow: 'quote', isDetached: false },
        deliver: { workflow: 'delivery', isDetached: false },
      },
      retried: 'retried',
    }
    const steps = ['quote', 'deliver'].map((name) => step(name, 'compensated', { round: 2 }))
    const child = (workflow: string, key: string, createdAt: number) =>
      run(key, 'cancelled', [step('only', 'compensated')], { workflow, key, createdAt, parentId: 'p' })
    const undone = (...at: readonly [number, number, number, number]): Partial<Facts> => {
      const keys = ['child:p:deliver', 'child:p:quote', 'child:p:deliver:2', 'child:p:quote:2']
      return {
        sightings: [{ what: 'retried', runId: 'p' }],
        runs: [
          run('p', 'compensated', steps),
          ...keys.map((key, index) => child(key.includes('quote') ? 'quote' : 'delivery', key, index)),
        ],
        calls: keys.map((key, index) => callOf(key, 'only', at[index]!, { undo: true })),
        effects: keys.map((key, index) => effectOf(key, 'only', at[index]! + 5, { undo: true })),
      }
    }

    expect(kindsOf(undone(10, 20, 110, 120), rules)).toEqual([])
    expect(kindsOf(undone(10, 20, 130, 120), rules)).toEqual(['out_of_order'])
  })

  it('reports a completed step of an undone run', () => {
    const rules = { graphs: { order: new Map() }, undoable: { order: new Set(['reserve']) } }

    expect(kindsOf({ runs: [run('r', 'compensated', [step('reserve', 'completed')])] }, rules)).toEqual([
      'left_behind',
    ])
    expect(kindsOf({ runs: [run('r', 'compensated', [step('reserve', 'compensated')])] }, rules)).toEqual([])
  })

  it('reports an undo after a pivot that completed', () => {
    const rules = { graphs: { order: new Map() }, pivots: { order: 'capture' } }
    const undone = (beganAt: number): Partial<Facts> => ({
      runs: [run('r', 'completed', [step('reserve', 'completed'), step('capture', 'completed')])],
      calls: [callOf('r', 'reserve', beganAt, { undo: true })],
      effects: [effectOf('r', 'capture', 30)],
    })

    expect(kindsOf(undone(40), rules)).toEqual(['undone_after_pivot'])
    expect(kindsOf(undone(20), rules)).toEqual([])
  })
})

describe('the oracle of effects of maps and of rounds after a retry', () => {
  const rules = { effectSteps: { order: ['upload'] }, undoneTogether: { order: ['upload'] } }

  it('takes the items of a map that were undone together for undone', () => {
    const opener = step('upload[]', 'compensated', { undoOf: 'completed' })
    const runs = [
      run('r', 'compensated', [opener, step('upload[a]', 'completed'), step('upload', 'completed')]),
    ]
    const calls = [callOf('r', 'upload[a]', 10), callOf('r', 'upload[a]', 30, { undo: true })]
    const [made, undone] = [effectOf('r', 'upload[a]', 20), effectOf('r', 'upload[a]', 40, { undo: true })]

    expect(kindsOf({ runs, calls, effects: [made, undone] }, rules)).toEqual([])
    expect(kindsOf({ runs, calls, effects: [made] }, rules)).toEqual(['effect_lost'])
  })

  it('reports an effect of an earlier round that was not undone', () => {
    const again = run('r', 'completed', [step('charge', 'completed', { round: 2 })])
    const calls = [callOf('r', 'charge', 10), callOf('r', 'charge', 50, { key: 'r:charge:2' })]
    const made = [effectOf('r', 'charge', 20), effectOf('r', 'charge', 60, { key: 'r:charge:2' })]
    const undone = effectOf('r', 'charge', 40, { undo: true })

    const given = { runs: [again], calls, effects: [...made, undone] }
    const charges = { effectSteps: { order: ['charge'] } }
    expect(kindsOf(given, charges)).toEqual([])
    expect(kindsOf({ ...given, effects: made }, charges)).toEqual(['effect_orphaned'])
  })
})

describe('the oracle of families', () => {
  const rules: Partial<Rules> = {
    children: {
      deliver: { workflow: 'delivery', isDetached: false },
      subscribe: { workflow: 'newsletter', isDetached: true },
    },
  }
  const child = (id: string, workflow: string, status: Parameters<typeof run>[1]) =>
    run(id, status, [], { workflow, parentId: 'p' })
  const parent = (status: Parameters<typeof run>[1], name: string) =>
    run('p', status, [step(name, 'completed')])

  it('reports a child that stays completed after the undo of its parent', () => {
    const runs = [parent('compensated', 'deliver'), child('c', 'delivery', 'completed')]

    expect(kindsOf({ runs }, rules)).toEqual(['family'])
    expect(kindsOf({ runs: [runs[0]!, child('c', 'delivery', 'cancelled')] }, rules)).toEqual([])
  })

  it('reports a second child, unless the parent was retried', () => {
    const runs = [
      parent('completed', 'deliver'),
      child('c', 'delivery', 'cancelled'),
      child('d', 'delivery', 'completed'),
    ]

    expect(kindsOf({ runs }, rules)).toEqual(['family'])
    expect(kindsOf({ runs, sightings: [{ what: 'retried', runId: 'p' }] }, rules)).toEqual([])
  })

  it('reports a loop that has not one completed child for each round', () => {
    const quotes = { children: { quotes: { workflow: 'quote', isDetached: false, rounds: 2 } } }
    const [first, second, third] = ['c', 'd', 'e'].map((id) => child(id, 'quote', 'completed'))
    const runs = [parent('completed', 'quotes'), first!, second!]

    expect(kindsOf({ runs }, quotes)).toEqual([])
    expect(kindsOf({ runs: runs.slice(0, 2) }, quotes)).toEqual(['family'])
    expect(kindsOf({ runs: [...runs, third!] }, quotes)).toEqual(['family'])
  })

  it('reports a detached child that does not exist, or was undone with its parent', () => {
    const undone = parent('compensated', 'subscribe')

    expect(kindsOf({ runs: [undone] }, rules)).toEqual(['family'])
    expect(kindsOf({ runs: [undone, child('c', 'newsletter', 'cancelled')] }, rules)).toEqual(['family'])
    expect(kindsOf({ runs: [undone, child('c', 'newsletter', 'completed')] }, rules)).toEqual([])
  })
})

describe('the oracle of end steps', () => {
  const rules: Partial<Rules> = { ends: { order: { receipt: 'completed', regret: 'compensated' } } }
  const told = { of: 'r', status: 'completed' }
  const followUp = (id: string, receipt: object, regret: string) =>
    run(id, 'completed', [step('receipt', 'completed', { output: receipt }), step('regret', regret)], {
      ...{ workflow: 'order/ended', parentId: 'r', key: `r:${id}` },
    })

  it('accepts one follow-up with exactly the right end steps', () => {
    expect(kindsOf({ runs: [run('r', 'completed', []), followUp('1', told, 'skipped')] }, rules)).toEqual([])
  })

  it('reports an end without a follow-up, and with two', () => {
    const ended = run('r', 'completed', [])

    expect(kindsOf({ runs: [ended] }, rules)).toEqual(['ends'])
    const two = [followUp('1', told, 'skipped'), followUp('2', told, 'skipped')]
    expect(kindsOf({ runs: [ended, ...two] }, rules)).toEqual(['ends'])
  })

  it('reports a wrong end step, and one that was told of another end', () => {
    const ended = run('r', 'completed', [])

    expect(kindsOf({ runs: [ended, followUp('1', told, 'completed')] }, rules)).toEqual(['ends'])
    const other = { ...told, status: 'failed' }
    expect(kindsOf({ runs: [ended, followUp('1', other, 'skipped')] }, rules)).toEqual(['ends'])
  })
})

describe('the oracle of results', () => {
  it('reports an output that the model does not compute, and allows a step that lost too many workers', () => {
    const expected = () => ({ charge: { status: 'completed' as const, output: 5 } })
    const charged = (output: number, losses = 0) => [
      run('r', 'completed', [step('charge', 'completed', { output, losses })]),
    ]

    expect(kindsOf({ runs: charged(5) }, { expected })).toEqual([])
    expect(kindsOf({ runs: charged(6) }, { expected })).toEqual(['wrong_result'])
    const { violations, exceptions } = judged({ runs: charged(6, 5) }, { expected })
    expect(violations).toEqual([])
    expect(exceptions).toEqual({ 'runs with a step that lost too many workers': 1 })
  })

  it('reports a published value of another attempt', () => {
    const rules = { values: { order: 'thank' } }
    const published = (attempt: number) => [
      run('r', 'completed', [step('thank', 'completed', { attempt: 2, output: { paid: true } })], {
        digest: { paid: true, attempt },
      }),
    ]

    expect(kindsOf({ runs: published(2) }, rules)).toEqual([])
    expect(kindsOf({ runs: published(1) }, rules)).toEqual(['wrong_value'])
  })

  it('reports more items under way than the limit of their map', () => {
    const rules = { limits: { order: { step: 'resize', most: 1 } } }
    const items = (end: number): Partial<Facts> => ({
      runs: [
        run('r', 'completed', [
          step('resize[a]', 'completed', { finishedAt: end }),
          step('resize[b]', 'completed', { finishedAt: 90 }),
        ]),
      ],
      calls: [callOf('r', 'resize[a]', 10), callOf('r', 'resize[b]', 30)],
    })

    expect(kindsOf(items(29), rules)).toEqual([])
    expect(kindsOf(items(31), rules)).toEqual(['limit_exceeded'])
  })
})
