import type { Engine, GraphStep } from '@belay/workflow'
import type { NewRun } from '@belay/workflow/adapter'
import { nextVersion, type Plan, type SimulatedStep, type Version } from './plan.ts'
import { Random } from './random.ts'
import type { Process } from './scheduler.ts'

/** The last digit of the seeds of worlds that are about parents, their children, and operators who act on both. */
const FAMILIES = 4
/** The limit that the runs of all workflows of some of these worlds share. */
const SHARED = 'family'
/** As many as no world needs. */
const RAISED = 1_000
/** The share of child starts before which the worker is frozen and its run abandoned. */
const ABANDONS = 0.4

export function showsFamilies(seed: number): boolean {
  return seed % 10 === FAMILIES
}

/** Whether it is the limit of families: the world raises it when the doctor finds a family that waits for itself. */
export function isOfFamilies(limit: string): boolean {
  return limit === SHARED
}

/** The limit was raised for a family, which may still need its slots. */
export function isRaised(slots: number | undefined): boolean {
  return slots === RAISED
}

/** A parent that often fails after its children, and often keeps what they did; the children do little, so that most of them complete. */
export function familyPlans(random: Random): readonly Plan[] {
  // Few slots: a child may wait for that of its own parent.
  const limit = random.pick([1, 2, 3])
  const limits = random.chance(0.5) ? { concurrency: { name: SHARED, limit } } : {}
  const calm = { fails: 0.1, failsForGood: 0, hangs: 0, undoFailsForGood: 0.1 }
  const children: Version = {
    steps: { s0: shortStep(true), ...(random.chance(0.5) ? { s1: { sleep: 500 } } : {}) },
    dag: {},
    ends: {},
  }
  const parent: Version = {
    steps: {
      s0: shortStep(random.chance(0.7)),
      s1: childOf(random),
      s2: random.chance(0.5) ? childOf(random) : shortStep(false),
      s3: shortStep(random.chance(0.5)),
    },
    dag: { s1: ['s0'], s2: random.chance(0.5) ? ['s1'] : ['s0'], s3: ['s1', 's2'] },
    ends: {},
  }
  const failing = { ...calm, failsForGood: 0.3 }
  return [
    { name: 'w0', versions: [parent, nextVersion(parent, random)], temper: failing, limits },
    { name: 'w1', versions: [children, nextVersion(children, random)], temper: calm, limits },
  ]
}

function childOf(random: Random): SimulatedStep {
  const child = {
    workflow: 'w1',
    ...(random.chance(0.6) ? { compensate: false } : {}),
    attempts: 3,
    initial: 50,
  }
  return random.chance(0.3) ? { ...child, over: 'list', concurrency: random.pick([undefined, 1]) } : child
}

function shortStep(undoes: boolean): GraphStep {
  const step = { handler: 'work', attempts: 2, initial: 50, timeout: '10s' } as const
  return undoes ? { ...step, compensate: { handler: 'undo' } } : step
}

/** Freezes workers that are about to start a child, and has the parent abandoned meanwhile. */
export class Abandonment {
  readonly #random: Random
  readonly #isDrawn: boolean
  readonly #act: (process: Process, parentId: string) => void

  constructor(seed: number, act: (process: Process, parentId: string) => void) {
    this.#random = new Random(seed ^ 0xfa311)
    this.#isDrawn = showsFamilies(seed)
    this.#act = act
  }

  /** A process is about to ask its store for something. */
  meets(process: Process, verb: string, args: readonly unknown[]): void {
    if (!this.#isDrawn || verb !== 'startRuns') return
    const [child] = args[0] as readonly NewRun[]
    if (child?.parent == null || child.parent.step === null || !this.#random.chance(ABANDONS)) return
    this.#act(process, child.parent.runId)
  }
}

/**
 * Raises the limit of families that wait for themselves, as the doctor says. Those that it does not find stay stuck, which the oracle reports.
 * Resolves to whether there were any.
 */
export async function openCircles(engine: Engine): Promise<boolean> {
  const { findings } = await engine.doctor()
  const circles = findings.filter(({ type }) => type === 'limit_circle')
  if (circles.length > 0) await engine.limits.set(SHARED, RAISED)
  return circles.length > 0
}
