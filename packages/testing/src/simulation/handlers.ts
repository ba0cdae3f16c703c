import {
  defineGraph,
  type GraphHandlerContext,
  PermanentError,
  RetryLaterError,
  type RoundContext,
  type WorkflowDefinition,
} from '@belay/workflow'
import type { StepTransaction } from '@belay/workflow/adapter'
import type { EffectCall, Effects } from './effects.ts'
import { FLOW } from './flow.ts'
import { undoneItems } from './item-effects.ts'
import { hasLimits, limitKey } from './limits.ts'
import type { Plan } from './plan.ts'
import type { Random } from './random.ts'
import type { Process } from './scheduler.ts'
import type { Written } from './store.ts'
import type { Told } from './told.ts'

/** Outputs longer than this, in bytes, cannot be stored by any engine of a world. */
export const PAYLOAD_MAX_BYTES = 2_000

/** The share of moments at which a handler tells something. */
const TELLS = 0.3

/** The share of outputs that cannot be stored, although their handlers' effects have happened. */
const UNSTORABLE = 0.02

/** The share of attempts, in worlds with limits, after which nobody enters the limits of their step for a while. */
const PUSHES_BACK = 0.05
/** The same share of first attempts of the workflow under flow control. */
const PUSHES_BACK_FLOW = 0.15

export interface HandlerParts {
  readonly process: Process
  readonly random: Random
  /** True after the chaos: then nothing fails by chance any more. */
  readonly calm: () => boolean
  readonly effects: Effects
  readonly told: Told
  /** Writes in a transactional handler's transaction. */
  readonly write: (tx: StepTransaction, written: Written) => Promise<void>
  /** What else a transactional handler does with its transaction. */
  readonly within: (tx: StepTransaction) => Promise<void>
}

type Context = GraphHandlerContext<unknown>

/** All versions of a plan, with handlers that run in one process. */
export function workflowsOf(plan: Plan, parts: HandlerParts): readonly WorkflowDefinition[] {
  const { random, calm } = parts
  const handlers = {
    work: (context: Context) => working(context, plan, parts),
    // Of a map that collects failures, so that a retry finds items to run again between those that it keeps.
    brittle: (context: Context) =>
      working(context, { ...plan, temper: { ...plan.temper, failsForGood: 0.5 } }, parts),
    check: async (context: Context) => {
      await behave(context, { plan, parts, failsForGood: 0 })
      if (!calm() && random.chance(0.5)) return random.pick([undefined, null, false])
      return outputOf(context)
    },
    // Another answer each time: whoever asked twice would notice.
    decide: async () => {
      await hesitate(plan, parts)
      return random.chance(0.6)
    },
    choose: async (context: Context) => {
      await behave(context, { plan, parts, failsForGood: 0 })
      return random.pick(['left', 'right', 'straight'])
    },
    turn: async (context: Context & RoundContext) => {
      await perform(context, plan, parts)
      if (!calm() && context.tx === undefined && random.chance(UNSTORABLE)) return unstorable(random)
      return turnOf(context)
    },
    isLast: ({ round }: Context & RoundContext) => {
      if (!calm() && random.chance(UNSTORABLE)) throw new Error('simulated: until fails')
      return round > 4 || random.chance(0.4)
    },
    undo: (context: Context) => perform(context, plan, parts),
    // The context is that of an end step: its run is the one that ended.
    follow: async (context: Context) => {
      await behave(context, { plan, parts, failsForGood: 0 })
      return outputOf(context)
    },
    list: async (context: Context) => {
      await behave(context, { plan, parts, failsForGood: 0 })
      return listed(context, random)
    },
    begin: async (context: Context) => {
      await behave(context, { plan, parts, failsForGood: 0 })
      return { round: 0 }
    },
    ...KEYS,
  }
  const { name, start, priority, limits, versions } = plan
  // A check that hangs must end too, but has no timeout of its own.
  const all = { timeout: '30s', start, priority, ...limits } as const
  return versions.map((graph, index) => defineGraph(name, { version: index + 1, ...graph, ...all }, handlers))
}

const KEYS = { keyed: keyOf as () => string, limitKey: limitKey as (context: unknown) => string }

async function working(context: Context, plan: Plan, parts: HandlerParts): Promise<unknown> {
  const { random, calm } = parts
  if (!calm() && hasLimits(plan) && random.chance(PUSHES_BACK))
    throw new RetryLaterError({ after: '2s', limit: true })
  // Most of these attempts begin when the world is calm.
  if (plan.name === FLOW && context.attempt === 1 && hasLimits(plan) && random.chance(PUSHES_BACK_FLOW))
    throw new RetryLaterError({ after: random.integer(200, 4_000), limit: true })
  await perform(context, plan, parts)
  if (!calm() && context.tx === undefined && random.chance(UNSTORABLE)) return unstorable(random)
  return outputOf(context)
}

/** Proves that dependencies' outputs arrive, and how they ended: the oracle checks the sum over the graph. */
function outputOf({ step, deps }: Context) {
  return { step, sees: Object.entries(deps).map(seen).sort() }
}

/** The dependency, and its outcome if the run continues past its failure. Nothing else that steps return here has a status. */
function seen([name, value]: readonly [string, unknown]): string {
  const isSettled = typeof value === 'object' && value !== null && 'status' in value
  return isSettled ? `${name} ${value.status}` : name
}

/** Proves that the output of the round before arrives. */
function turnOf(context: Context & RoundContext) {
  const last = context.last as { readonly round: number } | undefined
  return { ...outputOf(context), after: last?.round ?? 0, round: context.round }
}

/** The items of a map: as many as those of a map that it depends on, as often as not. */
function listed({ deps }: Context, random: Random): readonly Item[] {
  const mapped = Object.values(deps).find(Array.isArray)
  const length = random.chance(0.5) ? mapped?.length : undefined
  return Array.from({ length: length ?? random.integer(0, 6) }, (_, n) => ({ n }))
}

interface Item {
  readonly n: number
}

function keyOf({ n }: Item): string {
  return `k${n}`
}

function unstorable(random: Random): unknown {
  return random.pick<unknown>([1n, 'x'.repeat(2 * PAYLOAD_MAX_BYTES)])
}

/** Has an effect outside of the store, or in its own transaction; an undo reverses it. */
async function perform(context: Context, plan: Plan, parts: HandlerParts): Promise<void> {
  const { random, calm, effects } = parts
  const { undoOf, runId, step, tx, idempotencyKey } = context
  const { failsForGood, undoFailsForGood } = plan.temper
  const undone = undoneItems(context)
  const isUndo = undoOf !== undefined || undone !== undefined
  const call = effects.called(context)
  parts.told.begins(context)
  if (tx !== undefined) {
    const outcome = isUndo ? 'compensated' : 'completed'
    await parts.write(tx, { runId, step, outcome, key: idempotencyKey, undone })
    await parts.within(tx)
  }
  if (random.chance(TELLS)) await parts.told.tell(context)
  if (random.chance(TELLS)) await parts.told.beat(context)
  await behave(context, { plan, parts, failsForGood: isUndo ? undoFailsForGood : failsForGood })
  if (random.chance(TELLS)) await parts.told.tell(context)
  if (random.chance(TELLS)) await parts.told.beat(context)
  if (tx !== undefined) return
  await takeEffect(call, isUndo)
  // Only if `compensateOn` asks for it. Otherwise an error means that nothing happened.
  const isLookedAt = !isUndo && call.compensateOn(plan) === 'started'
  if (isLookedAt && !calm() && random.chance(plan.temper.fails))
    throw new Error('simulated: after its effect')
}

function takeEffect(call: EffectCall, isUndo: boolean): Promise<void> {
  return isUndo ? call.undo() : call.happen()
}

async function behave(
  { signal }: Context,
  { plan, parts, failsForGood }: { plan: Plan; parts: HandlerParts; failsForGood: number },
): Promise<void> {
  const { process, random, calm } = parts
  const { temper } = plan
  await process.turn(random.chance(0.1) ? random.integer(0, 8_000) : random.integer(0, 300))
  if (calm()) return
  if (random.chance(temper.hangs)) await untilSignalled(signal)
  // Half of the handlers ignore their signal.
  if (signal.aborted && random.chance(0.5)) throw signal.reason
  if (random.chance(failsForGood)) throw new PermanentError('simulated: for good')
  if (random.chance(temper.fails)) throw new Error('simulated: this time')
}

/** A condition takes its time and may fail, but has no signal that could tell it to stop. */
async function hesitate({ temper }: Plan, { process, random, calm }: HandlerParts): Promise<void> {
  await process.turn(random.chance(0.1) ? random.integer(0, 8_000) : random.integer(0, 300))
  if (!calm() && random.chance(temper.fails)) throw new Error('simulated: no decision this time')
}

function untilSignalled(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
