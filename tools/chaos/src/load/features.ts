interface ByEffects {
  readonly name: string
  /** Each effect of these steps, or with `undo` of their undos, is one of them. */
  readonly steps: readonly string[]
  readonly undo?: boolean
}

/** What a run of the harness must have met, counted in the world. None of one of them is a violation: then the harness has shown nothing about it. */
const BY_EFFECTS: readonly ByEffects[] = [
  { name: 'rounds of loops', steps: ['fetch'] },
  { name: 'rounds undone', steps: ['fetch'], undo: true },
  { name: 'items of limited maps', steps: ['resize', 'parcel'] },
  { name: 'items undone', steps: ['resize', 'parcel'], undo: true },
  { name: 'items of collecting maps', steps: ['upload'] },
  { name: 'items undone together', steps: ['upload'], undo: true },
  { name: 'chosen cases', steps: ['grid', 'list'] },
  { name: 'conditions met', steps: ['review'] },
  { name: 'fallbacks', steps: ['invoice'] },
  { name: 'fallbacks undone', steps: ['invoice'], undo: true },
  { name: 'children', steps: ['label'] },
  { name: 'children undone', steps: ['label'], undo: true },
  { name: 'children of rounds', steps: ['offer'] },
  { name: 'children of rounds undone', steps: ['offer'], undo: true },
  { name: 'detached children', steps: ['enrol'] },
  { name: 'pivots', steps: ['capture'] },
  { name: 'steps with heartbeats', steps: ['render'] },
  { name: 'steps that publish', steps: ['index', 'thank'] },
  { name: 'end steps after completion', steps: ['announce', 'receipt'] },
  { name: 'end steps after failure', steps: ['alert'] },
  { name: 'end steps after an undo', steps: ['apologise', 'regret'] },
  { name: 'steps under limits', steps: ['pickUp', 'bring'] },
  { name: 'steps under limits undone', steps: ['pickUp', 'bring'], undo: true },
  { name: 'steps under rates', steps: ['inform'] },
  { name: 'debounced runs', steps: ['edit'] },
  { name: 'throttled runs', steps: ['notice'] },
  { name: 'batches', steps: ['row'] },
  { name: 'runs of schedules', steps: ['tick'] },
  { name: 'runs of schedules cancelled by the next', steps: ['tick'], undo: true },
  { name: 'end steps after any end', steps: ['count', 'archive', 'tidy'] },
]

/** Counted where they happen, because they leave no effect. */
export const SIGHTINGS = {
  resumed: 'attempts resumed from a heartbeat',
  paused: 'pauses',
  cancelled: 'cancellations',
  retriedStep: 'retries after a pivot',
  skippedStep: 'skips after a pivot',
  retriedRun: 'retries after an undo',
  pushedBack: 'limits pushed back',
  joined: 'collected calls that joined a run',
  hurried: 'changes of priority',
  triggered: 'triggers of schedules',
  rested: 'pauses of schedules',
  backfilled: 'backfills of schedules',
} as const

/** Not to be met at all. */
export const WRONG_HEARTBEAT = 'heartbeat of another step'

export type Sighting = (typeof SIGHTINGS)[keyof typeof SIGHTINGS] | typeof WRONG_HEARTBEAT

/** Something that the world counts: the effects of a step, or a sighting. */
export interface Counted {
  readonly what: string
  readonly undo: boolean
  readonly count: number
}

/** How often each feature was met, by its name. */
export function featuresMet(counted: readonly Counted[]): Readonly<Record<string, number>> {
  const sumOf = (fits: (one: Counted) => boolean) =>
    counted.filter(fits).reduce((sum, { count }) => sum + count, 0)
  const effects = BY_EFFECTS.map(({ name, steps, undo = false }) => [
    name,
    sumOf((one) => one.undo === undo && steps.includes(one.what)),
  ])
  const seen = Object.values(SIGHTINGS).map((name) => [name, sumOf(({ what }) => what === name)])
  return Object.fromEntries([...effects, ...seen])
}

/** Reads what `featuresMet` counts, from the world. */
export const COUNTED = `
select split_part(step, '[', 1) as what, undo, count(*)::integer as count from effects group by 1, 2
union all select what, false, count(*)::integer from sightings group by 1`
