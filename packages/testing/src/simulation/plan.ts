import type {
  GraphChildLoop,
  GraphChoice,
  GraphCondition,
  GraphEndStep,
  GraphFan,
  GraphLoop,
  GraphMap,
  GraphRunConcurrency,
  GraphStep,
  GraphWait,
  StartOptions,
} from '@belay/workflow'
import { withPivot } from './pivots.ts'
import type { Random } from './random.ts'

/** How the handlers of a simulated workflow behave. Chosen call by call. */
export interface Temper {
  readonly fails: number
  readonly failsForGood: number
  /** The share of calls that never end before their signal fires. */
  readonly hangs: number
  readonly undoFailsForGood: number
}

export type SimulatedStep =
  | GraphStep
  | GraphMap
  | GraphLoop
  | GraphFan
  | GraphChildLoop
  | GraphWait
  | GraphChoice

/** One version's graph as data. */
export interface Version {
  readonly steps: Readonly<Record<string, SimulatedStep>>
  readonly dag: Readonly<Record<string, readonly string[]>>
  readonly ends: Readonly<Record<string, GraphEndStep>>
}

/** A random workflow as data, so that every process can add its own handlers. */
export interface Plan {
  readonly name: string
  /** Version 1 and version 2, to which operators move runs. */
  readonly versions: readonly Version[]
  readonly temper: Temper
  /** How its starts are collected; absent if each call starts a run. */
  readonly start?: StartOptions<unknown> | undefined
  /** The limits of its runs; absent for none. */
  readonly limits?: RunLimits | undefined
  /** Of runs that are started without one. */
  readonly priority?: number | undefined
}

/** As `defineGraph()` takes them. */
export interface RunLimits {
  readonly concurrency?: GraphRunConcurrency | undefined
  readonly rateLimit?: GraphStep['rateLimit']
}

/** `child`: the workflow whose runs some of its steps start. */
export function randomPlan(random: Random, name: string, child?: string): Plan {
  const first = random.chance(0.1) ? brittleVersion(random) : randomVersion(random, child)
  const { steps } = first
  const temper = random.pick<Temper>([
    { fails: 0, failsForGood: 0, hangs: 0, undoFailsForGood: 0 },
    { fails: 0.15, failsForGood: 0.03, hangs: 0.02, undoFailsForGood: 0.3 },
    { fails: 0.3, failsForGood: 0.1, hangs: 0.1, undoFailsForGood: 0.4 },
  ])
  const versions = [first, nextVersion(first, random)]
  const works = Object.keys(steps).filter((name) => 'handler' in steps[name]! && !('over' in steps[name]!))
  if (works.length === 0 || random.chance(0.6)) return { name, versions, temper }
  const pivots = [...new Set([random.pick(works), random.pick(works)])].slice(0, random.integer(1, 2))
  return { name, versions: versions.map((version) => pivots.reduce<Version>(withPivot, version)), temper }
}

/** A map of which so many items fail that a retry finds items to run again between those that it keeps. */
function brittleVersion(random: Random): Version {
  const map: GraphMap = {
    over: 'list',
    handler: 'brittle',
    attempts: 1,
    timeout: '10s',
    concurrency: random.integer(1, 2),
    onFailure: 'collect',
    minSuccess: '100%',
  }
  return { steps: { s0: map, s1: randomStep(random) }, dag: { s1: ['s0'] }, ends: randomEnds(random) }
}

function randomVersion(random: Random, child: string | undefined): Version {
  // Some plans have a lot of everything, so that every combination is drawn.
  const isMixed = random.chance(0.3)
  const share = (mixed: number, ...others: readonly number[]) => (isMixed ? mixed : random.pick(others))
  const size = random.integer(isMixed ? 5 : 1, 9)
  const density = share(0.5, 0.15, 0.35, 0.6)
  const steps: Record<string, SimulatedStep> = {}
  const waits = share(0.15, 0, 0.15, 0.5)
  const maps = share(0.7, 0, 0, 0.2, 0.4)
  const branches = share(0.6, 0, 0.2, 0.5)
  const continues = share(0.5, 0, 0.2, 0.6)
  const children = child === undefined ? 0 : share(0.3, 0, 0.2, 0.4)
  const dag: Record<string, readonly string[]> = {}
  const names = Array.from({ length: size }, (_, index) => `s${index}`)
  for (const [index, step] of names.entries()) {
    const choices = names.slice(0, index).filter((name) => casesOf(steps[name]!) !== undefined)
    const kind = random.chance(branches / 2)
      ? randomChoice
      : random.chance(waits)
        ? randomWait
        : random.chance(maps)
          ? random.pick([randomMap, randomLoop])
          : randomStep
    const isChild = child !== undefined && random.chance(children)
    const made = isChild ? randomChild(random, child) : kind(random)
    const hasOwn = 'on' in made || 'over' in made
    const mayContinue = !hasOwn && random.chance(continues)
    steps[step] = {
      ...made,
      ...(mayContinue ? { onFailure: 'continue' as const } : {}),
      ...(random.chance(branches) ? randomCondition(random, choices, steps) : {}),
    } as SimulatedStep
    const dependencies = names.slice(0, index).filter(() => random.chance(density))
    if (dependencies.length > 0) dag[step] = dependencies
  }
  return { steps, dag, ends: randomEnds(random) }
}

/** The same steps among new ones, so that most of them get another number. Sometimes with one step fewer, or one more edge. */
export function nextVersion({ steps, dag, ends }: Version, random: Random): Version {
  const names = Object.keys(steps)
  const dropped = names.length > 1 && random.chance(0.3) ? names.at(-1) : undefined
  const kept = names.filter((name) => name !== dropped)
  const edges: Record<string, readonly string[]> = Object.fromEntries(
    kept.flatMap((name) => (dag[name] === undefined ? [] : [[name, dag[name]]])),
  )
  // A root before all others, and a sink that depends on one of them.
  const last = random.pick(kept)
  if (random.chance(0.3) && kept[0] !== last) edges[last] = [...new Set([...(edges[last] ?? []), kept[0]!])]
  return {
    steps: {
      first: randomStep(random),
      ...Object.fromEntries(kept.map((name) => [name, steps[name]!])),
      last: randomStep(random),
    },
    dag: { ...edges, last: [last] },
    ends: random.chance(0.8) ? ends : randomEnds(random),
  }
}

export function randomStep(random: Random): GraphStep {
  return {
    handler: 'work',
    attempts: random.integer(1, 3),
    initial: 50,
    max: '2s',
    // A step that may hang needs a timeout. A few have none and rely on their lease.
    timeout: random.pick(['2s', '10s', '30s']),
    transaction: random.chance(0.3),
    ...(random.chance(0.7)
      ? {
          compensate: { handler: 'undo', transaction: random.chance(0.3) },
          compensateOn: random.pick(['completed', 'completed', 'started']),
        }
      : { irreversible: random.chance(0.5) }),
    ...(random.chance(0.3) ? { heartbeatTimeout: random.pick(['1s', '5s', '20s']) } : {}),
  }
}

export function randomMap(random: Random): GraphMap {
  const { compensate, ...item } = randomStep(random)
  const undo = compensate === undefined ? {} : random.chance(0.4) ? randomUndoOfAll(random) : { compensate }
  const keyed = random.chance(0.3) ? { itemKey: 'keyed' } : {}
  const limit = { concurrency: random.pick([undefined, 1, 2, 3]) }
  const map = { ...item, ...undo, ...keyed, ...limit, over: 'list' }
  if (random.chance(0.5)) return map
  return { ...map, onFailure: 'collect', minSuccess: random.pick([undefined, 1, '50%', '100%'] as const) }
}

function randomUndoOfAll(random: Random): Pick<GraphMap, 'compensateAll'> {
  return {
    compensateAll: { handler: 'undo', attempts: random.integer(1, 3), transaction: random.chance(0.3) },
  }
}

function randomChild(random: Random, workflow: string): GraphWait | GraphFan | GraphChildLoop {
  const child = randomChildOf(random, workflow)
  if (random.chance(0.6)) return random.chance(0.3) ? { ...child, ...randomRounds(random) } : child
  const fan = { ...child, over: 'list', concurrency: random.pick([undefined, 1, 2]) }
  if (random.chance(0.5)) return fan
  return { ...fan, onFailure: 'collect', minSuccess: random.pick([undefined, 1, '50%'] as const) }
}

function randomChildOf(random: Random, workflow: string): Omit<GraphFan, 'over' | 'onFailure'> {
  return {
    workflow,
    ...(random.chance(0.2) ? { detached: true } : {}),
    ...(random.chance(0.4) ? { compensate: false } : {}),
    attempts: 3,
    initial: 50,
  }
}

export function randomLoop(random: Random): GraphLoop {
  const { handler: _, ...round } = randomStep(random)
  return { ...round, repeat: 'turn', ...randomRounds(random) }
}

/** Its `until` ends a loop after a few rounds. Sometimes that is too late. */
function randomRounds(random: Random): Pick<GraphLoop, 'until' | 'first' | 'delay' | 'roundsMax'> {
  return {
    until: 'isLast',
    ...(random.chance(0.5) ? { first: 'begin' } : {}),
    ...(random.chance(0.4) ? { delay: random.integer(1, 5_000) } : {}),
    roundsMax: random.pick([2, 10, 10, 10]),
  }
}

/** What a simulated choice may choose. */
const CASES = ['left', 'right', 'straight']

function randomChoice(random: Random): GraphChoice {
  return { on: 'choose', cases: CASES, attempts: random.integer(1, 3), initial: 50, timeout: '10s' }
}

/** How a step may decide about others: by its case, or by how it ended. */
function casesOf(step: SimulatedStep): readonly string[] | undefined {
  if ('on' in step) return CASES
  return 'onFailure' in step && step.onFailure === 'continue' ? ['completed', 'failed'] : undefined
}

/** Steps after the end, for every kind of end; in most plans none. */
function randomEnds(random: Random): Version['ends'] {
  if (random.chance(0.6)) return {}
  const attempts = random.integer(1, 3)
  const step = { handler: 'follow', attempts, initial: 50, timeout: '10s' } as const
  return {
    good: { ...step, after: 'completed' },
    bad: { ...step, after: 'failed', transaction: random.chance(0.3) },
    undone: { ...step, after: 'compensated', dependsOn: random.chance(0.5) ? ['bad'] : [], onSkipped: 'run' },
    always: {
      ...step,
      after: 'any',
      dependsOn: random.chance(0.5) ? ['good', 'undone'] : [],
      onSkipped: 'run',
    },
  }
}

/** A step with this may be skipped, or runs although a dependency was skipped. */
function randomCondition(
  random: Random,
  choices: readonly string[],
  steps: Readonly<Record<string, SimulatedStep>>,
): GraphCondition {
  const onSkipped = random.pick(['skip', 'run'] as const)
  if (random.chance(0.3)) return { onSkipped }
  if (choices.length === 0 || random.chance(0.4)) return { when: 'decide', onSkipped }
  const choice = random.pick(choices)
  const cases = casesOf(steps[choice]!)!
  const wanted = random.chance(0.5) ? random.pick(cases) : cases.slice(0, 2)
  return { when: { [choice]: wanted }, onSkipped }
}

/** The output of a step whose signal did not come. */
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
