import type { Run } from '../../src/machine/index.ts'

/** A run as it can be compared: its units without what points at others. */
export function plain(run: Run) {
  const { paused, priority, born, parked } = run
  const units = run.units.flatMap((u) => {
    if (u === undefined) return []
    const { spec, scope, units, named: _named, alive, mem, aside, ...own } = u
    const isOne = spec.compensate !== undefined
    const isCounting =
      (units !== null && ['open', 'stopping', 'parked'].includes(own.status)) ||
      (units !== null && own.status === 'undoing' && !isOne)
    const waits =
      mem instanceof Map ? [...(mem as Map<{ no: number }, number>)].map(([v, n]) => [v.no, n]).sort() : mem
    return [
      {
        ...own,
        aside: aside && scope!.status === 'stopping',
        scope: scope?.no,
        kin: units?.map((v) => v.no),
        alive: isCounting ? alive : 0,
        mem: units !== null && (own.status === 'open' || (own.status === 'undoing' && !isOne)) ? waits : null,
      },
    ]
  })
  return { paused, priority, born, parked, units }
}
