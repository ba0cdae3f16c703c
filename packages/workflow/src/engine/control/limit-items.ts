import { itemIndex, type PlacedShape, type StepChange, type StoredStep } from '../../adapter/index.ts'
import { isContinued, isSatisfied, type Plan } from './plan.ts'

/** The decided rows of a run with items, in terms of places. */
interface Placed {
  readonly steps: readonly StoredStep[]
  readonly placed: PlacedShape
}

/**
 * Corrects a decision that makes steps begin, made without regard to maps. A map or a loop that runs again decides its items anew: until then its
 * join waits for it alone. Otherwise no more of its items are ready than may be under way at a time, and the others wait for their turn.
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
  const after = (place: number): StoredStep => changes.get(place) ?? steps[place]!
  const [opener, ...items] = placed.shape.steps[join.step]!.dependsOn
  const indexOf = (place: number) => itemIndex(placed.numbers[place]!)
  // A failed item of a map that goes on has ended.
  const hasEnded = (row: StoredStep) => isSatisfied(row) || isContinued({ steps, shape: placed.shape }, row)
  const open = items.filter((place) => !hasEnded(after(place)))
  if (after(join.step).status !== 'pending' || plan.run.status !== 'running') return plan
  // While the map decides its items again, the earlier ones wait for that, and not for their turn.
  if (!isSatisfied(after(opener!))) return plan
  const ready = howManyBegin(open.map(indexOf), items.length, turns.atOnce)
  const nextItem = ready === 0 ? items.length : indexOf(open[ready - 1]!) + 1
  const begins = new Set(open.slice(0, ready))
  const held = new Set(open.slice(ready).filter((place) => !HOLDS_TURN.has(after(place).status)))
  const freed = open.filter((place) => begins.has(place) && isHeld(after(place)))
  const rows = new Map(changes)
  rows.set(join.step, { ...after(join.step), turns: { ...turns, nextItem } })
  for (const place of held) rows.set(place, { ...after(place), status: 'pending', openDependencies: 1 })
  for (const place of freed) rows.set(place, { ...after(place), status: 'ready', openDependencies: 0 })
  return {
    ...plan,
    steps: [...rows.values()] as readonly StepChange[],
    queue: [...plan.queue.filter(({ step }) => !held.has(step)), ...freed.map((place) => rows.get(place)!)],
  }
}

/** An item that failed after a pivot keeps its turn until an operator has acted. */
const HOLDS_TURN: ReadonlySet<string> = new Set(['running', 'failed'])

function isHeld({ status, openDependencies }: StoredStep): boolean {
  return status === 'pending' && openDependencies === 1
}

/**
 * How many of the open items, by index, may begin now. Each item that ends frees the one at the next index: an index whose item has ended already
 * frees nobody, so for each of those one more begins now.
 */
function howManyBegin(open: readonly number[], items: number, atOnce: number): number {
  let ready = Math.min(atOnce, open.length)
  for (;;) {
    if (ready === open.length) return ready
    const ended = items - (open[ready - 1]! + 1) - (open.length - ready)
    const wanted = Math.min(atOnce + ended, open.length)
    if (wanted <= ready) return ready
    ready = wanted
  }
}
