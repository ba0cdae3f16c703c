import { DIAMOND, definitionRecord } from '../scenario/index.ts'

/** Small graphs in which everything meets: joins, forks, loose steps, several ends. */
export const GRAPHS = [
  definitionRecord('diamond', DIAMOND, 1, { b: 'approval' }),
  definitionRecord('branches', { a: [], b: ['a'], c: [], d: ['c'], e: ['b', 'd'], f: ['a', 'c'] }),
  definitionRecord(
    'ladder',
    { a: [], b: [], c: ['a', 'b'], d: ['a'], e: ['c', 'd'], f: ['b'], g: ['e'] },
    1,
    { b: 'sleep', d: 'signal', f: 'poll' },
  ),
  definitionRecord('loose', { a: [], b: [], c: [] }, 1, { a: 'approval', c: 'approval' }),
  // Second versions, to which operators move runs: steps get other numbers, one is dropped, one edge is new.
  definitionRecord('branches', { z: [], a: [], b: ['a'], c: [], d: ['c'], e: ['b', 'd'], g: ['z', 'e'] }, 2),
  definitionRecord('loose', { z: [], a: [], b: ['z'], c: [] }, 2, { a: 'approval', c: 'approval' }),
]

export function dependentsOf(graph: number, step: number): readonly number[] {
  return GRAPHS[graph]!.shape.steps.flatMap(({ dependsOn }, number) =>
    dependsOn.includes(step) ? [number] : [],
  )
}
