import {
  defineGraph,
  type GraphHandlerContext,
  type GraphStep,
  type GraphWait,
  PermanentError,
  type WorkflowDefinition,
} from '@belay/workflow'
import type { MemoryTransaction } from '../memory/index.ts'
import type { Random } from './random.ts'
import type { Process } from './scheduler.ts'

/** How handlers of a simulated workflow behave: chosen call by call. */
export interface Temper {
  readonly fails: number
  readonly failsForGood: number
  /** Never ends before its signal fires. */
  readonly hangs: number
  readonly undoFailsForGood: number
}

/** A random graph as data, so that every process can give it handlers of its own. */
export interface Plan {
  readonly name: string
  readonly steps: Readonly<Record<string, GraphStep | GraphWait>>
  readonly dag: Readonly<Record<string, readonly string[]>>
  readonly temper: Temper
}

export function randomPlan(random: Random, name: string): Plan {
  const size = random.integer(1, 9)
  const density = random.pick([0.15, 0.35, 0.6])
  const steps: Record<string, GraphStep | GraphWait> = {}
  const waits = random.pick([0, 0.15, 0.5])
  const dag: Record<string, readonly string[]> = {}
  const names = Array.from({ length: size }, (_, index) => `s${index}`)
  for (const [index, step] of names.entries()) {
    steps[step] = random.chance(waits) ? randomWait(random) : randomStep(random)
    const dependencies = names.slice(0, index).filter(() => random.chance(density))
    if (dependencies.length > 0) dag[step] = dependencies
  }
  const temper = random.pick<Temper>([
    { fails: 0, failsForGood: 0, hangs: 0, undoFailsForGood: 0 },
    { fails: 0.15, failsForGood: 0.03, hangs: 0.02, undoFailsForGood: 0 },
    { fails: 0.3, failsForGood: 0.1, hangs: 0.1, undoFailsForGood: 0.08 },
  ])
  return { name, steps, dag, temper }
}

function randomStep(random: Random): GraphStep {
  return {
    handler: 'work',
    attempts: random.integer(1, 3),
    initial: 50,
    max: '2s',
    // A step that may hang needs an end; one in a few has none and relies on its lease.
    timeout: random.pick(['2s', '10s', '30s']),
    transaction: random.chance(0.3),
    ...(random.chance(0.7)
      ? {
          compensate: { handler: 'undo', transaction: random.chance(0.3) },
          compensateOn: random.pick(['completed', 'completed', 'started']),
        }
      : {}),
  }
}

/** What a step that waits for a signal completes with when none came. */
export const STAND_IN = 'stand-in'

function randomWait(random: Random): GraphWait {
  const timeout = random.pick(['2s', '10s', '40s'] as const)
  const ends = random.pick([
    {},
    { timeout },
    { timeout, onTimeout: { output: STAND_IN } },
    { timeout, onTimeout: { output: STAND_IN } },
  ])
  return random.pick<GraphWait>([
    { sleep: random.integer(0, 20_000) },
    { signal: true, ...ends },
    { signal: true, ...ends },
    { approval: true, ...ends },
    { poll: 'check', every: random.integer(50, 5_000), attempts: 3, initial: 50 },
    { poll: 'check', every: random.integer(50, 5_000), timeout, attempts: 3, initial: 50 },
  ])
}

/** What a transactional handler wrote, and the outcome that it belongs to. */
export interface Written {
  readonly runId: string
  readonly step: string
  readonly outcome: 'completed' | 'compensated'
}

/** The plan with handlers that run in one process. */
export function workflowOf(
  plan: Plan,
  parts: {
    readonly process: Process
    readonly random: Random
    /** After the chaos, nothing fails any more that chance alone decides. */
    readonly calm: () => boolean
    /** What a transactional handler wrote has been committed. */
    readonly onWrite: (written: Written) => void
  },
): WorkflowDefinition {
  const { process, random, calm, onWrite } = parts
  const behave = async (context: GraphHandlerContext<unknown>, failsForGood: number) => {
    const { temper } = plan
    const transaction = context.tx?.client as MemoryTransaction | undefined
    const outcome = context.undoOf === undefined ? 'completed' : 'compensated'
    transaction?.onCommit(() => onWrite({ runId: context.runId, step: context.step, outcome }))
    await process.turn(random.chance(0.1) ? random.integer(0, 8_000) : random.integer(0, 300))
    if (calm()) return
    if (random.chance(temper.hangs)) await untilSignalled(context.signal)
    // Half of the handlers don't care about their signal.
    if (context.signal.aborted && random.chance(0.5)) throw context.signal.reason
    if (random.chance(failsForGood)) throw new PermanentError('simulated: for good')
    if (random.chance(temper.fails)) throw new Error('simulated: this time')
  }
  return defineGraph(
    plan.name,
    // A check that hangs needs an end as well; it has no timeout of its own.
    { steps: plan.steps, dag: plan.dag, timeout: '30s' },
    {
      work: async (context: GraphHandlerContext<unknown>) => {
        await behave(context, plan.temper.failsForGood)
        // Proof that dependencies' outputs arrive: the sum over the graph is checked by the oracle.
        return { step: context.step, sees: Object.keys(context.deps).sort() }
      },
      check: async (context: GraphHandlerContext<unknown>) => {
        await behave(context, 0)
        if (!calm() && random.chance(0.5)) return random.pick([undefined, null, false])
        return { step: context.step, sees: Object.keys(context.deps).sort() }
      },
      undo: (context: GraphHandlerContext<unknown>) => behave(context, plan.temper.undoFailsForGood),
    },
  )
}

function untilSignalled(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
