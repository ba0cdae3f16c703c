import { notedLate, placeAt } from '../rows/queue-place.ts'
import { heldParents } from './held-parents.ts'

/** What differs between starts: the parts of the statement that write and use priorities, and those that look at the steps that start children. */
export interface Variant {
  readonly values: string
  readonly names: string
  readonly run: string
  readonly ofRun: string
  readonly step: string
  readonly ofStep: string
  /** Joins the run as it was given, as `n`. */
  readonly numbered: string
  /** The place of a root in the queue. */
  readonly place: string
  readonly late: string
  /** Locks the parents' steps that are held still, and leaves the runs of other steps out. */
  readonly held: string
  readonly ifHeld: string
  /** Whether a run was left out: of a run that was not created, and of one that was. */
  readonly isLost: string
  readonly notLost: string
}

const STARTS_AT = 'coalesce(c.start_at, belay.store_now())'

export const PLAIN: Variant = {
  ...{ values: '', names: '', run: '', ofRun: '', step: '', ofStep: '', numbered: '', late: '' },
  ...{ held: '', ifHeld: '', isLost: '', notLost: '' },
  place: STARTS_AT,
}

/** The priority of a step of the run `n`, which has those of all steps as a text. */
function priorityOf(step: string): string {
  return `(coalesce(n.priority, 0) + coalesce((n.step_priorities::int[])[${step} + 1], 0))`
}

const GIVEN_RUN = '\n  join new_runs n on n.run_id = c.id'

export const PRIORITISED: Variant = {
  ...PLAIN,
  values: ', $17::int[], $18::text[]',
  names: ', n.priority, n.step_priorities',
  run: ', priority',
  ofRun: ', nullif(n.priority, 0)',
  step: ', priority',
  ofStep: `, nullif(${priorityOf('s.step')}, 0)`,
  numbered: GIVEN_RUN,
  place: placeAt(STARTS_AT, priorityOf('root.step')),
  late: `
${notedLate(
  `(
    select c.start_at, c.definition_id, root.step, 0 as fence, c.id as run_id, ${priorityOf('root.step')} as lead
    from created_runs c
    join shapes on shapes.definition_id = c.definition_id
    cross join lateral unnest(shapes.roots) as root (step)${GIVEN_RUN}
    where c.id not in (select l.id from leased_runs l)
  )`,
  'q.start_at',
  'q.lead',
)},`,
}

export const CHILDREN: Variant = {
  ...PRIORITISED,
  values: `${PRIORITISED.values}, $19::int[]`,
  names: `${PRIORITISED.names}, n.parent_fence`,
  held: `
held_parents as materialized (
${heldParents('new_runs')}
),`,
  ifHeld: `
    and (n.parent_fence is null or n.run_id in (select h.run_id from held_parents h))`,
  isLost: `, n.parent_fence is not null and n.run_id not in (select h.run_id from held_parents h) as is_lost`,
  notLost: ', false',
}
