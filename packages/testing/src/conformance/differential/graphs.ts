import { DIAMOND, definitionRecord } from '../scenario/index.ts'

const CHOICE = {
  a: { cases: ['x', 'y'] },
  b: { when: [{ choice: 'a', cases: ['x'] }] },
  c: { when: [{ choice: 'a', cases: ['y'] }] },
  d: { onSkipped: 'run' },
} as const

/** Small graphs that combine joins, forks, independent steps and several sinks. */
export const GRAPHS = [
  definitionRecord('diamond', DIAMOND, 1, { b: 'approval' }),
  definitionRecord('branches', { a: [], b: ['a'], c: [], d: ['c'], e: ['b', 'd'], f: ['a', 'c'] }),
  definitionRecord(
    'ladder',
    { a: [], b: [], c: ['a', 'b'], d: ['a'], e: ['c', 'd'], f: ['b'], g: ['e'] },
    1,
    { b: 'sleep', d: 'signal', f: 'poll' },
  ),
  definitionRecord(
    'loose',
    { a: [], b: [], c: [] },
    1,
    { a: 'approval', c: 'approval' },
    { b: { when: 'function' } },
  ),
  definitionRecord('choice', { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }, 1, { a: 'choose' }, CHOICE),
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

export function dependentsOf(graph: number, step: number): readonly number[] {
  return GRAPHS[graph]!.shape.steps.flatMap(({ dependsOn }, number) =>
    dependsOn.includes(step) ? [number] : [],
  )
}
