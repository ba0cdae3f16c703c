import type { Capped, Overview } from '../../src/api.ts'

/** A screen of the navigation. */
export interface Screen {
  readonly to: string
  readonly name: string
  /** The letter after `g`. */
  readonly key: string
  readonly group?: 'Act' | 'Operate'
  readonly count?: (overview: Overview) => Capped | undefined
  /** Loud as soon as there is one. */
  readonly isHot?: true
}

/** What only a person can end: parked runs, of which the undo failed or a step after a point of no return, decisions, and what the doctor finds besides. */
export function needed({ parkedUndos, approvals, liveRuns, otherFindings = 0 }: Overview): Capped {
  const counts = [parkedUndos, approvals, ...(liveRuns['parked'] ? [liveRuns['parked']] : [])]
  return {
    count: counts.reduce((sum, { count }) => sum + count, otherFindings),
    capped: counts.some(({ capped }) => capped),
  }
}

const figure = (count: number | undefined): Capped | undefined =>
  count === undefined ? undefined : { count, capped: false }

/** In the order of the navigation. */
export const SCREENS: readonly Screen[] = [
  { to: '/health', name: 'Health', key: 'h', count: ({ findings }) => figure(findings) },
  { to: '/runs', name: 'Runs', key: 'r' },
  { to: '/needs', name: 'Needs a person', key: 'n', group: 'Act', count: needed, isHot: true },
  {
    to: '/rollbacks',
    name: 'Rollbacks',
    key: 'b',
    group: 'Act',
    count: ({ parkedUndos }) => parkedUndos,
    isHot: true,
  },
  { to: '/waiting', name: 'Approvals', key: 'a', group: 'Act', count: ({ approvals }) => approvals },
  { to: '/repairs', name: 'Repair many', key: 'm', group: 'Act' },
  { to: '/versions', name: 'Versions', key: 'v', group: 'Operate' },
  { to: '/schedules', name: 'Schedules', key: 's', group: 'Operate' },
  { to: '/limits', name: 'Limits', key: 'l', group: 'Operate' },
  { to: '/workers', name: 'Workers', key: 'w', group: 'Operate', count: ({ workers }) => figure(workers) },
]
