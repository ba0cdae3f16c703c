import { comparePeers } from '../peers/compare.ts'
import type { Row } from '../peers/table.ts'
import { table } from '../peers/table.ts'
import type { Section } from './section.ts'

export const peersSection: Section = {
  name: 'peers',
  about: 'Belay and other systems in turn: a chain of 3, starts, idle latency; single jobs of queues',
  async measure(bench, record) {
    const rows = await comparePeers(bench)
    for (const row of rows) {
      for (const ratio of ratiosOf(row)) {
        const { name, version, isBelay } = row.contender
        const label = isBelay ? name : `${name} ${version}`
        record.bar({
          group: 'Beside other systems, by turns: a chain of 3, or single jobs of a queue',
          label,
          ratio,
          isBelay,
        })
      }
    }
    record.append(table(rows, bench))
  },
}

function ratiosOf({ drains }: Row): number[] {
  return drains.map((drain) => drain.stepsPerSecond / drain.reference.updatesPerSecond)
}
