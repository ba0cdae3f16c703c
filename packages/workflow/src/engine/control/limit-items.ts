import {
  HELD_TURNS,
  itemIndex,
  type PlacedShape,
  type StepChange,
  type StoredRun,
  type StoredStep,
  type Turns,
} from '../../adapter/index.ts'
import { isContinued, isSatisfied, type Plan } from './plan.ts'
import { isForward } from './refusal.ts'

/** The decided rows of a run with items, in terms of places. */
interface Placed {
  /** As it was before the action. */
  readonly run: StoredRun
  readonly steps: readonly StoredStep[]
  readonly placed: PlacedShape
}

/**
 * Corrects a decision that makes steps begin, made without regard to maps. A map or a loop that runs again decides its items anew: until then its
 * join waits for it alone. Otherwise exactly as many of its items are under way as may be at a time, and the others wait for their turn.
 */
export function limitItems(plan: Plan, found: Placed): Plan {
  return found.placed.shape.steps.reduce((corrected, { kind, dependsOn }, place) => {
    if (kind !== 'join') return corrected
    const runsAgain = corrected.steps.some(({ step }) => step === dependsOn[0])
    return runsAgain ? waitForMap(corrected, place) : limitMap(corrected, found, found.steps[place]!)
  }, plan)
}

function waitForMap(plan: Plan, join: number): Plan {
  const steps = plan.steps.map((change) =>
    change.step === join && change.status === 'pending' ? { ...change, openDependencies: 1 } : change,
  )
  return { ...plan, steps }
}

function limitMap(plan: Plan, found: Placed, join: StoredStep): Plan {
  const { turns } = join
  if (turns === undefined) return plan
  const { placed, steps } = found
  const changes = new Map(plan.steps.map((change) => [change.step, change]))
  const after = (place: number): StepChange => changes.get(place) ?? steps[place]!
  const [opener, ...items] = placed.shape.steps[join.step]!.dependsOn
  if (after(join.step).status !== 'pending' || !isForward(plan.run)) return plan
  // While the map decides its items again, the earlier ones wait for that, and not for their turn.
  if (!isSatisfied(after(opener!))) return plan
  const open = items.filter((place) => !hasEnded(found, after(place)))
  const others = open.filter((place) => !hasTurn(found, steps[place]!))
  const begin = Math.max(0, turns.atOnce - (open.length - others.length))
  const begins = others
    .slice(0, begin)
    .map((place): StepChange => ({ ...after(place), status: 'ready', openDependencies: 0 }))
  const wait = others.slice(begin)
  const held = wait
    .map(after)
    .filter(({ status, openDependencies }) => status !== 'pending' || openDependencies !== 1)
    .map((row): StepChange => ({ ...row, status: 'pending', openDependencies: 1 }))
  const order = orderOf(
    wait.map((place) => itemIndex(placed.numbers[place]!)),
    items.length,
  )
  const isPaused = plan.run.status === 'paused'
  const nextItem = order.nextItem + (isPaused ? HELD_TURNS : 0)
  const joins: StepChange = { ...after(join.step), turns: { ...turns, ...order, nextItem } }
  const rows = new Map([...changes, ...[joins, ...begins, ...held].map((row) => [row.step, row] as const)])
  const corrected = new Set(others)
  const queue = plan.queue.filter(({ step }) => !corrected.has(step))
  return { ...plan, steps: [...rows.values()], queue: isPaused ? queue : [...queue, ...begins] }
}

/** A failed item of a map that goes on has ended. */
function hasEnded({ steps, placed: { shape } }: Placed, row: StoredStep): boolean {
  return isSatisfied(row) || isContinued({ steps, shape }, row)
}

/**
 * Whether an item was under way before the action: begun and not ended, or about to begin. It keeps its turn. So does an item that failed after a
 * pivot, until an operator has acted. In an ended run nothing is under way.
 */
function hasTurn(found: Placed, row: StoredStep): boolean {
  if (!isForward(found.run) || hasEnded(found, row)) return false
  return row.status !== 'pending'
}

/** In which order the items at these ascending indexes begin. */
function orderOf(waiting: readonly number[], items: number): Omit<Turns, 'atOnce'> {
  const [first = items] = waiting
  const followOneAnother = waiting.every((index, position) => index === first + position)
  return followOneAnother ? { nextItem: first, order: null } : { nextItem: 0, order: waiting }
}
