import {
  type Claim,
  type DrainedRun,
  ENDS,
  heartbeatKey,
  itemNumber,
  type Lease,
  type NewValue,
  type Outcome,
  type ParentRun,
  type StartLimit,
  type UndoneStatus,
  type UndoPlan,
} from '@belay/workflow/adapter'
import { UNLIMITED } from '../scenario/index.ts'
import type { Command, PlannedRun, PlannedSignal } from './command.ts'
import { dependentsIn, GRAPHS } from './graphs.ts'
import { operation } from './operation.ts'
import { outcomeOf } from './outcome.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

// Multiples of three, so that no sum of them equals a lease.
const ADVANCES_MS = [3, 300, 3_000, 6_000, 12_000]
const START_DELAYS_MS = [undefined, undefined, undefined, undefined, 3_000, 30_000]
const DEADLINES_MS = [undefined, undefined, undefined, 12_000, 60_000, 300_000]
const KEYS = ['k1', 'k2', 'k3', 'k4', null, null, null, null]
// Chosen with the input, so that they cost no draw.
const PRIORITIES = [
  {},
  {},
  { priority: 2 },
  { stepPriorities: [0, 3] },
  { priority: 7, stepPriorities: [1, 0, 4] },
]
// Chosen with the input too. Nobody declares the second limit.
const LIMITS = new Map<number, readonly StartLimit[]>([
  [7, [{ limit: 'l3', key: '', concurrency: 2 }]],
  [23, [{ limit: 'l4', key: 'k1', concurrency: 1 }]],
  [41, [{ limit: 'l4', key: 'k1', concurrency: 1 }]],
  [
    59,
    [
      { limit: 'l4', key: 'k1', concurrency: 1 },
      { limit: 'l3', key: 'k2', concurrency: 1 },
    ],
  ],
  [83, [{ limit: 'l3', key: 'k2', concurrency: 1 }]],
])
// Each of them is read after every command.
const LIVELY_RUNS_MAX = 10
const LATE_PROBABILITY = 0.15
const WEIGHTS = {
  start: 10,
  signal: 8,
  expire: 3,
  upcoming: 1,
  approvals: 4,
  claim: 22,
  settle: 36,
  advance: 9,
  renew: 8,
  sweep: 5,
  drain: 6,
  undo: 8,
  cancel: 2,
  stopping: 2,
  held: 2,
  load: 2,
  publish: 12,
  operate: 8,
  history: 1,
  within: 3,
  recorded: 2,
  leave: 4,
  prune: 1,
  releaseKeys: 1,
  ends: 3,
  wakeParents: 5,
  look: 9,
}

/** The next command: something that a live worker, or one declared dead, might do now. */
// Longer than other functions: one arm for each command, checked to be exhaustive.
export function nextCommand(world: World, random: Random): Command {
  if (world.workerIds.includes(undefined)) return { do: 'register', workerId: world.ids.workerId() }
  const enough = world.livelyRunIds.length >= LIVELY_RUNS_MAX
  const weights = enough ? { ...WEIGHTS, start: 0 } : WEIGHTS
  const kind = world.runIds.length === 0 ? 'start' : random.weighted(weights)
  const workerId = random.pick(world.workerIds)!
  switch (kind) {
    case 'start':
      return { do: 'start', runs: plannedRuns(world, random), lease: plannedLease(workerId, random) }
    case 'claim':
      return { do: 'claim', workerId, graphs: someGraphs(random) }
    case 'settle':
      return settlement(world, random, workerId)
    case 'publish':
      return { do: 'publish', workerId, values: toldValues(world, random, workerId) }
    case 'advance':
      return { do: 'advance', ms: random.pick(ADVANCES_MS) }
    case 'undo':
      return {
        do: 'undo',
        plans: world.drained.map(({ run, graph }) => undoPlan(run, graph, random)),
      }
    case 'within':
      return {
        do: 'within',
        runs: plannedRuns(world, random),
        signals: plannedSignals(world, random),
        commits: random.chance(0.6),
      }
    case 'recorded':
      return { do: 'recorded', workerId, outcomes: endedWellBy(world, workerId) }
    case 'leave': {
      const idle = world.workerIds.find((id) => id !== undefined && world.holdsNothing(id))
      return idle === undefined ? { do: 'listHeld', workerId } : { do: 'leave', workerId: idle }
    }
    case 'look':
      return look(world, random, workerId)
    case 'ends':
      return { do: kind, forgotten: random.below(3) }
    case 'wakeParents':
      return { do: kind, runIds: random.sample(world.runIds, 4) }
    case 'prune':
    case 'releaseKeys':
      return { do: kind, runIds: random.sample(world.runIds, 3) }
    case 'cancel':
    case 'stopping':
      return { do: kind, runIds: random.sample(world.runIds.slice(-10), kind === 'cancel' ? 1 : 5) }
    case 'load':
      return { do: kind, runId: random.pick(world.runIds), branches: random.chance(0.5) }
    case 'history':
      return { do: kind, runId: random.pick(world.runIds) }
    case 'operate':
      return operation(world, random)
    case 'renew':
    case 'held':
      return { do: kind, workerId }
    case 'signal':
      return { do: 'signal', signals: plannedSignals(world, random) }
    case 'sweep':
    case 'drain':
    case 'expire':
    case 'upcoming':
    case 'approvals':
      return { do: kind }
  }
}

/** Outcomes settled for good. A requeue cannot be recognised later. */
function endedWellBy(world: World, worker: string): readonly Outcome[] {
  return world.attempts
    .filter(({ workerId }) => workerId === worker)
    .flatMap(({ settled }) =>
      settled?.type === 'completed' || settled?.type === 'compensated' ? [settled] : [],
    )
    .slice(-3)
}

/** A command that changes nothing. */
function look(world: World, random: Random, workerId: string): Command {
  return random.pick<Command>([
    { do: 'workers' },
    { do: 'diagnose' },
    { do: 'definitions' },
    { do: 'newest' },
    { do: 'listDefinitions' },
    { do: 'countReady' },
    { do: 'attempts', runId: random.pick(world.runIds) },
    { do: 'listHeld', workerId },
    { do: 'statuses', runIds: random.sample(world.runIds, 5) },
    { do: 'observe', runIds: random.sample(world.runIds, 5) },
    { do: 'values', runId: random.pick(world.runIds) },
    { do: 'find', runId: random.pick(world.runIds) },
    { do: 'findByKey', graph: random.below(GRAPHS.length), key: random.pick(['k1', 'k2', 'k3']) },
    { do: 'list', status: random.pick(ENDS) },
    { do: 'count', status: random.pick(ENDS) },
    { do: 'children', runId: random.pick(world.runIds) },
    { do: 'findEnded', status: random.pick(ENDS) },
  ])
}

function plannedRuns(world: World, random: Random): readonly PlannedRun[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const graph = random.below(GRAPHS.length)
    const [runId, key, number] = [world.ids.runId(), random.pick(KEYS), random.below(100)]
    return {
      runId,
      graph,
      key,
      input: `${number}`,
      ...PRIORITIES[number % PRIORITIES.length],
      limits: LIMITS.get(number),
      startDelayMs: random.pick(START_DELAYS_MS),
      deadlineMs: random.pick(DEADLINES_MS),
      parent: plannedParent(world, random),
      reportsEnd: random.chance(0.4),
    }
  })
}

function plannedParent(world: World, random: Random): ParentRun | undefined {
  if (world.runIds.length === 0 || random.chance(0.7)) return undefined
  return {
    runId: random.pick(world.runIds.slice(-LIVELY_RUNS_MAX)),
    step: random.pick([null, 0, 1, itemNumber(1, 0)]),
  }
}

/** Enough for all, for some or for none of them. */
function plannedLease(workerId: string | undefined, random: Random): Lease | undefined {
  if (workerId === undefined || random.chance(0.5)) return undefined
  return { workerId, handBackMax: random.pick([UNLIMITED, 2, 1, 0]) }
}

/** Signals to steps in any state, sometimes with a key that was used before. */
function plannedSignals(world: World, random: Random): readonly PlannedSignal[] {
  return random.sample(world.runIds.slice(-LIVELY_RUNS_MAX), 1 + random.below(2)).map((runId) => {
    const graph = world.graphs.get(runId)!
    const step = random.below(GRAPHS[graph]!.shape.steps.length)
    return { runId, graph, step, key: `signal ${random.below(3)}`, payload: `${random.below(100)}` }
  })
}

function someGraphs(random: Random): readonly number[] {
  const all = GRAPHS.map((_, graph) => graph)
  return random.chance(0.5) ? all : random.sample(all, 1 + random.below(2))
}

/** A batch of outcomes: mostly for what the worker holds, some late, some repeated, some for what another worker holds. */
function settlement(world: World, random: Random, worker: string): Command {
  const late = random.chance(LATE_PROBABILITY)
  const candidates = world.attempts.filter(
    ({ workerId, settled }) => late || (workerId === worker && settled === undefined),
  )
  const attempts = random.sample(candidates, 1 + random.below(6))
  // A late worker settles under its own id, which may be a dead worker's.
  const workerId = late && attempts[0] !== undefined ? attempts[0].workerId : worker
  const outcomes = onePerRun(attempts.map((attempt) => outcomeOf(attempt, world, random)))
  const repeated = random.chance(0.1) ? outcomes.slice(0, 1) : []
  const handBackMax = random.chance(0.6) ? UNLIMITED : 0
  const told = attempts
    .slice(0, 1)
    .flatMap(({ claim }) => (random.chance(0.3) ? [toldValue(claim, random)] : []))
  return { do: 'settle', workerId, outcomes: [...outcomes, ...repeated], handBackMax, told }
}

/** Values of attempts that the worker holds, had, or never had: new ones, older ones, and the same again. */
function toldValues(world: World, random: Random, worker: string): readonly NewValue[] {
  const late = random.chance(LATE_PROBABILITY)
  const candidates = world.attempts.filter(
    ({ workerId, settled }) => late || (workerId === worker && settled === undefined),
  )
  const told = random.sample(candidates, 1 + random.below(4))
  return told.flatMap(({ claim }) =>
    Array.from({ length: 1 + random.below(2) }, () => toldValue(claim, random)),
  )
}

function toldValue({ runId, step, fence }: Claim, random: Random): NewValue {
  return {
    runId,
    step,
    fence,
    key: random.pick([null, 'x', 'y', 'z', 'Z', heartbeatKey({ direction: 'forward', round: 1 })]),
    sequence: 1 + random.below(4),
    ageMs: random.pick([0, 3, 3_000]),
    value: `{"done":${random.below(100)}}`,
  }
}

/**
 * Keeps one outcome per run: the port leaves open in which order a batch's outcomes for one run are recorded, and that matters to a run that fails.
 */
function onePerRun(outcomes: readonly Outcome[]): readonly Outcome[] {
  const alone = new Map<string, Outcome>()
  for (const outcome of outcomes) if (outcome.type === 'failed') alone.set(outcome.runId, outcome)
  return outcomes.filter((outcome) => (alone.get(outcome.runId) ?? outcome) === outcome)
}

/** Undoes completed steps, and sometimes all others too, so that relays and undos of failed steps occur. */
function undoPlan(run: DrainedRun, graph: number, random: Random): UndoPlan {
  const dependents = dependentsIn(graph, run.steps)
  const wanted: readonly UndoneStatus[] = random.chance(0.4)
    ? ['completed', 'failed', 'cancelled']
    : ['completed']
  const steps = run.steps.filter(({ status }) => wanted.some((one) => one === status)).map(({ step }) => step)
  const undos = steps.map((step) => ({
    step,
    openDependents: dependents.get(step)!.filter((other) => steps.includes(other)).length,
  }))
  const { runId, fences } = run
  if (run.stop === 'abandonment') return { runId, fences, endsAs: 'cancelled', undos: [] }
  if (run.stop === 'cancellation') return { runId, fences, endsAs: 'cancelled', undos }
  return { runId, fences, endsAs: undos.length === 0 ? 'failed' : 'compensated', undos }
}
