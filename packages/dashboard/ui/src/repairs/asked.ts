import type { RepairRequest } from '../../../src/api/many.ts'
import { figure } from '../words.ts'

type Verb = RepairRequest['verb']

interface ManyWords {
  /** In the choice of verbs. */
  readonly name: string
  /** The runs of a filter without a status. */
  readonly selects: string
  /** What it needs besides the runs. */
  readonly asks?: 'step' | 'priority' | 'version'
  /** On the button that does it, before the number of runs. */
  readonly go: string
}

const ENDED = 'failed and undone runs'
const LIVE = 'runs that go forward or are paused'
const PARKED = 'runs whose undo is parked'

export const MANY: Readonly<Record<Verb, ManyWords>> = {
  retry: { name: 'Retry', selects: ENDED, go: 'Retry' },
  cancel: { name: 'Cancel', selects: LIVE, go: 'Cancel' },
  pause: { name: 'Pause', selects: 'runs that go forward', go: 'Pause' },
  resume: { name: 'Resume', selects: 'paused runs', go: 'Resume' },
  retryCompensation: {
    name: 'Retry the undo of a step',
    selects: PARKED,
    asks: 'step',
    go: 'Retry the undo of',
  },
  skipCompensation: {
    name: 'Mark a step as undone',
    selects: PARKED,
    asks: 'step',
    go: 'Mark it as undone in',
  },
  setPriority: {
    name: 'Change the priority',
    selects: LIVE,
    asks: 'priority',
    go: 'Change the priority of',
  },
  move: { name: 'Move to another version', selects: LIVE, asks: 'version', go: 'Move' },
}

/** What a repair does, as its title. */
export function titleOf({ verb, step, priority, version }: RepairRequest): string {
  switch (verb) {
    case 'retryCompensation':
      return `Retry the undo of ${step}`
    case 'skipCompensation':
      return `Mark ${step} as undone`
    case 'setPriority':
      return `Change the priority to ${priority}`
    case 'move':
      return `Move to v${version}`
    default:
      return MANY[verb].name
  }
}

/** `Retry 38 runs` */
export function goOf({ verb }: RepairRequest, count: number): string {
  return `${MANY[verb].go} ${figure(count)} ${count === 1 ? 'run' : 'runs'}`
}

/** What stands in the address of a new repair: nothing of it has been checked. */
export type Draft = Pick<RepairRequest, 'verb' | 'query' | 'runs'> & {
  /** For what the verb asks. */
  readonly asked: string
}

export function draftIn(search: string): Draft {
  const given = new URLSearchParams(search)
  const verb = given.get('verb') ?? ''
  const runs = given.getAll('run')
  return {
    verb: Object.hasOwn(MANY, verb) ? (verb as Verb) : 'retry',
    query: given.get('query') ?? '',
    ...(runs.length === 0 ? {} : { runs }),
    asked: given.get('step') ?? given.get('priority') ?? given.get('version') ?? '',
  }
}

/** Where such a repair is begun anew. */
export function addressOf(draft: Partial<RepairRequest>): string {
  const { verb, query, runs = [], step, priority, version } = draft
  const given = { verb, query, step, priority, version }
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  )
  return `/repairs/new?${new URLSearchParams([...pairs, ...runs.map((id) => ['run', id])])}`
}
