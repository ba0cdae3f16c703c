import type { GraphChoice, GraphCondition, GraphLoop, GraphMap, GraphStep, GraphWait } from '@belay/workflow'
import type { Random } from './random.ts'

/** How the handlers of a simulated workflow behave. Chosen call by call. */
export interface Temper {
  readonly fails: number
  readonly failsForGood: number
  /** The share of calls that never end before their signal fires. */
  readonly hangs: number
  readonly undoFailsForGood: number
}

type SimulatedStep = GraphStep | GraphMap | GraphLoop | GraphWait | GraphChoice

/** One version's graph as data. */
export interface Version {
  readonly steps: Readonly<Record<string, SimulatedStep>>
  readonly dag: Readonly<Record<string, readonly string[]>>
}

/** A random workflow as data, so that every process can add its own handlers. */
export interface Plan {
  readonly name: string
  /** Version 1 and version 2, to which operators move runs. */
  readonly versions: readonly Version[]
  readonly temper: Temper
}

export function randomPlan(random: Random, name: string): Plan {
  const size = random.integer(1, 9)
  const density = random.pick([0.15, 0.35, 0.6])
  const steps: Record<string, SimulatedStep> = {}
  const waits = random.pick([0, 0.15, 0.5])
  const maps = random.pick([0, 0, 0.2, 0.4])
  const branches = random.pick([0, 0.2, 0.5])
  const dag: Record<string, readonly string[]> = {}
  const names = Array.from({ length: size }, (_, index) => `s${index}`)
  for (const [index, step] of names.entries()) {
    const choices = names.slice(0, index).filter((name) => 'on' in steps[name]!)
    const kind = random.chance(branches / 2)
      ? randomChoice
      : random.chance(waits)
        ? randomWait
        : random.chance(maps)
          ? random.pick([randomMap, randomLoop])
          : randomStep
    steps[step] = { ...kind(random), ...(random.chance(branches) ? randomCondition(random, choices) : {}) }
    const dependencies = names.slice(0, index).filter(() => random.chance(density))
    if (dependencies.length > 0) dag[step] = dependencies
  }
  const temper = random.pick<Temper>([
    { fails: 0, failsForGood: 0, hangs: 0, undoFailsForGood: 0 },
    { fails: 0.15, failsForGood: 0.03, hangs: 0.02, undoFailsForGood: 0 },
    { fails: 0.3, failsForGood: 0.1, hangs: 0.1, undoFailsForGood: 0.2 },
  ])
  const first = { steps, dag }
  return { name, versions: [first, nextVersion(first, random)], temper }
}

/** The same steps among new ones, so that most of them get another number. Sometimes with one step fewer, or one more edge. */
function nextVersion({ steps, dag }: Version, random: Random): Version {
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
  }
}

function randomStep(random: Random): GraphStep {
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
      : {}),
  }
}

function randomMap(random: Random): GraphMap {
  const map = { ...randomStep(random), over: 'list', concurrency: random.pick([undefined, 1, 2, 3]) }
  if (random.chance(0.5)) return map
  return { ...map, onFailure: 'collect', minSuccess: random.pick([undefined, 1, '50%', '100%'] as const) }
}

/** Its `until` ends it after a few rounds. Sometimes that is too late. */
function randomLoop(random: Random): GraphLoop {
  const { handler: _, ...round } = randomStep(random)
  return {
    ...round,
    repeat: 'turn',
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

/** A step with this may be skipped, or runs although a dependency was skipped. */
function randomCondition(random: Random, choices: readonly string[]): GraphCondition {
  const onSkipped = random.pick(['skip', 'run'] as const)
  if (random.chance(0.3)) return { onSkipped }
  if (choices.length === 0 || random.chance(0.4)) return { when: 'decide', onSkipped }
  const wanted = random.chance(0.5) ? random.pick(CASES) : CASES.slice(0, 2)
  return { when: { [random.pick(choices)]: wanted }, onSkipped }
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
