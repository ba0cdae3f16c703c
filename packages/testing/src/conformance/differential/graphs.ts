import { DIAMOND, definitionRecord } from '../scenario/index.ts'

/** Small graphs in which everything meets: joins, forks, loose steps, several ends. */
export const GRAPHS = [
  definitionRecord('diamond', DIAMOND, 1, { b: 'approval' }),
  definitionRecord('branches', { a: [], b: ['a'], c: [], d: ['c'], e: ['b', 'd'], f: ['a', 'c'] }),
  definitionRecord('ladder', {
    a: [],
    b: [],
    c: ['a', 'b'],
    d: ['a'],
    e: ['c', 'd'],
    f: ['b'],
    g: ['e'],
  }),
  definitionRecord('loose', { a: [], b: [], c: [] }, 1, { a: 'approval', c: 'approval' }),
]

export function dependentsOf(graph: number, step: number): readonly number[] {
  return GRAPHS[graph]!.shape.steps.flatMap(({ dependsOn }, number) =>
    dependsOn.includes(step) ? [number] : [],
  )
}
