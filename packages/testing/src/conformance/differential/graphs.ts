import { edgesOf, isItem, mapOf, placeRows, type StepShape } from '@belay/workflow/adapter'
import { DIAMOND, definitionRecord } from '../scenario/index.ts'

const CHOICE = {
  a: { cases: ['x', 'y'] },
  b: { when: [{ choice: 'a', cases: ['x'] }] },
  c: { when: [{ choice: 'a', cases: ['y'] }] },
  d: { onSkipped: 'run' },
} as const

const PIVOT = { p: { pivot: true }, b: { irreversible: true } } as const

/** Small graphs that combine joins, forks, independent steps and several sinks. */
export const GRAPHS = [
  definitionRecord('diamond', DIAMOND, 1, { b: 'approval' }),
  definitionRecord('branches', { a: [], b: ['a'], c: [], d: ['c'], e: ['b', 'd'], f: ['a', 'c'] }),
  definitionRecord(
    'ladder',
    { a: [], b: [], c: ['a', 'b'], d: ['a'], e: ['c', 'd'], f: ['b'], g: ['e'] },
    1,
    { b: 'sleep', c: 'child', d: 'signal', f: 'poll' },
  ),
  definitionRecord(
    'loose',
    { a: [], b: [], c: [] },
    1,
    { a: 'approval', c: 'approval' },
    { b: { when: 'function' } },
  ),
  definitionRecord('mapped', { a: [], 'm[]': ['a'], m: ['m[]'], b: ['m'], c: ['a'] }, 1, {
    'm[]': 'map',
    m: 'join',
  }),
  definitionRecord('looped', { a: [], 'l[]': ['a'], l: ['l[]'], b: ['l'], c: ['a'] }, 1, {
    'l[]': 'repeat',
    l: 'join',
  }),
  definitionRecord('choice', { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }, 1, { a: 'choose' }, CHOICE),
  definitionRecord('pivots', { a: [], p: ['a'], b: ['p'], c: ['p'], d: ['b', 'c'] }, 1, {}, PIVOT),
  // Second versions, to which operators move runs: steps get other numbers, one is dropped, one edge is new.
  definitionRecord('branches', { z: [], a: [], b: ['a'], c: [], d: ['c'], e: ['b', 'd'], g: ['z', 'e'] }, 2),
  definitionRecord(
    'loose',
    { z: [], a: [], b: ['z'], c: [] },
    2,
    { a: 'approval', c: 'approval' },
    { b: { when: 'function' } },
  ),
]

/** The kind of the step by which a row of a graph's run is executed; undefined for a step that works and for an item. */
export function kindOf(graph: number, row: number): StepShape['kind'] {
  return isItem(row) ? undefined : GRAPHS[graph]!.shape.steps[row]!.kind
}

export function hasPivot(graph: number): boolean {
  return GRAPHS[graph]!.shape.steps.some(({ pivot }) => pivot === true)
}

/** The pivots before a row of a graph's run; undefined if there are none. */
export function pivotsBefore(graph: number, row: number): readonly number[] | undefined {
  const { steps } = GRAPHS[graph]!.shape
  const pivots = [...steps.keys()].filter((number) => steps[number]!.pivot === true && number < row)
  return pivots.length === 0 ? undefined : pivots
}

/** Whether a row of a graph's run is a round of a loop. */
export function isRound(graph: number, row: number): boolean {
  return isItem(row) && GRAPHS[graph]!.shape.steps[mapOf(row)]!.kind === 'repeat'
}

/** For each row of a run, the numbers of the rows that depend on it. */
export function dependentsIn(
  graph: number,
  rows: readonly { readonly step: number }[],
): ReadonlyMap<number, readonly number[]> {
  const { shape } = GRAPHS[graph]!
  const placed = placeRows(shape, rows) ?? { shape, numbers: shape.steps.map((_, number) => number) }
  const { dependents } = edgesOf(placed.shape)
  return new Map(
    placed.numbers.map((number, place) => [
      number,
      dependents[place]!.map((other) => placed.numbers[other]!),
    ]),
  )
}
