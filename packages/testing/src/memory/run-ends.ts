import type { RunEnd, RunEndsRequest } from '@belay/workflow/adapter'
import type { Rows } from './rows.ts'

export function findRunEnds(rows: Rows, { definitionIds, after, limit }: RunEndsRequest): readonly RunEnd[] {
  return [...rows.runEnds.values()]
    .filter(
      ({ definitionId, sequence }) => definitionIds.includes(definitionId) && sequence > Number(after ?? 0),
    )
    .slice(0, limit)
    .map(({ sequence, ...end }) => {
      const { workflow, key, parent } = rows.runs.get(end.runId)!
      return { ...end, sequence: String(sequence), workflow, key, parent }
    })
}

export function forgetRunEnds(rows: Rows, ends: readonly Pick<RunEnd, 'sequence' | 'definitionId'>[]): void {
  for (const { sequence, definitionId } of ends) {
    const number = Number(sequence)
    if (rows.runEnds.get(number)?.definitionId === definitionId) rows.runEnds.delete(number)
  }
}
