/** A step of a graph, after all that it depends on. */
export interface LaneStep {
  readonly name: string
  readonly dependsOn: readonly string[]
}

/**
 * One cell: a lane in the row of one step. `empty`: no lane is here. `step`: the step. `passes`: a lane goes by that has nothing to do with the step.
 * `joins`: the step depends on the lane, which goes on. `ends`: the step depends on the lane, and is the last that does.
 */
export interface Cell {
  readonly kind: 'empty' | 'step' | 'passes' | 'joins' | 'ends'
  /** Whether the line that goes sideways into the step leaves the cell on this side. */
  readonly left: boolean
  readonly right: boolean
}

/** The cells of one step, from the left. */
export type LaneRow = readonly Cell[]

/** How many lanes are drawn. Beyond them nobody can follow one. */
export const LANES_MAX = 6

/**
 * One row a step, in the given order. A lane runs down from a step to its last dependent, which may take its place: a step right below another one in
 * a lane depends on it. A lane that ended stays empty for one row, so that no step looks like the dependent of a stranger. Undefined if that takes
 * more than {@link LANES_MAX} lanes.
 */
export function layoutLanes(steps: readonly LaneStep[]): readonly LaneRow[] | undefined {
  const lastDependent = new Map<string, string>()
  for (const { name, dependsOn } of steps) for (const on of dependsOn) lastDependent.set(on, name)
  // Whose lane it is: the step that it comes from, 'resting' in the row after it ended, or nothing.
  const lanes: (LaneOwner | undefined)[] = []
  const rows: LaneRow[] = []
  for (const { name, dependsOn } of steps) {
    const at = placeOf({ name, dependsOn }, lanes, lastDependent)
    if (at >= LANES_MAX) return undefined
    rows.push(rowOf({ name, dependsOn }, at, lanes, lastDependent))
    for (const [lane, owner] of lanes.entries()) {
      if (owner === RESTING) lanes[lane] = undefined
      else if (owner !== undefined && lastDependent.get(owner) === name) lanes[lane] = RESTING
    }
    lanes[at] = lastDependent.has(name) ? name : RESTING
  }
  return rows
}

/** The lane rests: it ended in the row above. No step is called so. */
const RESTING = Symbol('resting')
type LaneOwner = string | typeof RESTING

/** The leftmost lane that ends in this step, else the leftmost that is free. */
function placeOf(
  { name, dependsOn }: LaneStep,
  lanes: readonly (LaneOwner | undefined)[],
  lastDependent: ReadonlyMap<string, string>,
): number {
  const taken = lanes.findIndex(
    (owner) => typeof owner === 'string' && dependsOn.includes(owner) && lastDependent.get(owner) === name,
  )
  if (taken >= 0) return taken
  const free = lanes.indexOf(undefined)
  return free >= 0 ? free : lanes.length
}

function rowOf(
  { name, dependsOn }: LaneStep,
  at: number,
  lanes: readonly (LaneOwner | undefined)[],
  lastDependent: ReadonlyMap<string, string>,
): LaneRow {
  const kinds = Array.from({ length: Math.max(lanes.length, at + 1) }, (_, lane): Cell['kind'] => {
    const owner = lanes[lane]
    if (lane === at) return 'step'
    if (typeof owner !== 'string') return 'empty'
    if (!dependsOn.includes(owner)) return 'passes'
    return lastDependent.get(owner) === name ? 'ends' : 'joins'
  })
  const reached = kinds.flatMap((kind, lane) => (kind === 'empty' || kind === 'passes' ? [] : [lane]))
  const [first, last] = [reached[0]!, reached.at(-1)!]
  return kinds.map((kind, lane) => ({
    kind,
    left: lane > first && lane <= last,
    right: lane >= first && lane < last,
  }))
}
