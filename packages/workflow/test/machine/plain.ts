import type { Run } from '../../src/machine/index.ts'

/** A run as it can be compared: its units without what points at others. */
export function plain(run: Run) {
  const { paused, born, parked } = run
  const units = run.units.flatMap((u) => {
    if (u === undefined) return []
    const {
      no,
      key,
      status,
      of,
      phase,
      serial,
      round,
      touched,
      forward,
      undo,
      flying,
      recorded,
      row,
      written,
      note,
      held,
      aside,
    } = u
    const isOne = u.spec.compensate !== undefined
    const isCounting =
      (u.units !== null && ['open', 'stopping', 'parked'].includes(status)) ||
      (u.units !== null && status === 'undoing' && !isOne)
    const waits =
      u.mem instanceof Map
        ? [...(u.mem as Map<{ no: number }, number>)].map(([v, n]) => [v.no, n]).sort()
        : u.mem
    return [
      {
        ...{
          no,
          key,
          status,
          of,
          phase,
          serial,
          round,
          touched,
          forward,
          undo,
          flying,
          recorded,
          row,
          written,
          note,
          held,
          aside: aside && u.scope!.status === 'stopping',
        },
        scope: u.scope?.no,
        kin: u.units?.map((v) => v.no),
        alive: isCounting ? u.alive : 0,
        mem: u.units !== null && (status === 'open' || (status === 'undoing' && !isOne)) ? waits : null,
      },
    ]
  })
  return { paused, born, parked, units }
}
