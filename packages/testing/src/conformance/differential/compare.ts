import { isDeepStrictEqual } from 'node:util'
import type { Outcome } from '@belay/workflow/adapter'
import { assertInvariants } from '../../invariants/check.ts'
import { readDump } from '../../invariants/dump.ts'
import type { Harness } from '../harness.ts'
import { type Command, runsOf } from './command.ts'
import { canonical, comparableAnswer } from './comparable.ts'
import { nextCommand } from './generate.ts'
import { GRAPHS } from './graphs.ts'
import { nextLimitCommand } from './limits.ts'
import { pruneSome } from './pruned.ts'
import { Random } from './random.ts'
import { Side } from './side.ts'
import { World } from './world.ts'

// Quiet runs are also read at times, to verify that they are quiet.
const FULL_READ_EVERY = 25
const LOGGED_MAX = 60
const LIMITS_EVERY = 9

/**
 * Sends the same random commands to two adapters. Compares every answer and, after every command, every row. `seed` decides the commands, `steps`
 * their number. Both harnesses must be fresh; the caller closes them.
 * @throws Error that names the seed, the difference, and the commands that may concern it.
 */
export async function compareAdapters(seed: number, a: Harness, b: Harness, steps: number): Promise<void> {
  const sides = [await Side.prepare(a), await Side.prepare(b)] as const
  const world = new World()
  const random = new Random(seed)
  const limitsRandom = new Random(-seed)
  const log: Command[] = []
  const fail = (difference: Difference) => {
    throw new Error(describeFailure(seed, sides, log, difference))
  }
  for (let step = 1; step <= steps; step += 1) {
    // With random numbers of their own: the other commands are the same without them.
    const ofLimits = step % LIMITS_EVERY === 0 ? nextLimitCommand(world, limitsRandom) : undefined
    const command = ofLimits ?? nextCommand(world, random)
    log.push(command)
    const different = await compareAnswers(sides, world, command)
    if (different !== undefined) fail(different)
    const full = step % FULL_READ_EVERY === 0 || step === steps
    const runIds = full ? world.runIds : world.livelyRunIds
    const differentRows = await compareRows(sides, runIds, world)
    if (differentRows !== undefined) fail(differentRows)
  }
  const differentRemains = await comparePruned(sides, world.runIds)
  if (differentRemains !== undefined) fail(differentRemains)
  for (const { adapter, harness } of sides) {
    await harness.verify?.()
    assertInvariants(await readDump(adapter, await adapter.saveDefinitions(GRAPHS)))
  }
}

interface Difference {
  readonly where: string
  readonly one: string
  readonly other: string
  /** Only if it is about one run. */
  readonly runId?: string
}

type Sides = readonly [Side, Side]

async function compareAnswers(
  [a, b]: Sides,
  world: World,
  command: Command,
): Promise<Difference | undefined> {
  const first = firstOutcomes(world, command)
  const [one, other] = [await answerOf(a, command), await answerOf(b, command)]
  const comparable = ({ answer, threw }: Answer) =>
    threw ?? canonical(comparableAnswer(command, answer, (outcome) => first.has(outcome)))
  const texts = [comparable(one), comparable(other)] as const
  // No command here is a caller's mistake: an adapter that throws is wrong, even if both throw.
  const agreed = texts[0] === texts[1] && one.threw === undefined
  if (!agreed) return { where: `the answer to ${command.do}`, one: texts[0], other: texts[1] }
  world.learn(command, one.answer)
  return undefined
}

/** The outcomes that are settled for the first time by the worker that holds them. Computed before they are settled. */
function firstOutcomes(world: World, command: Command): ReadonlySet<Outcome> {
  if (command.do !== 'settle') return new Set()
  return new Set(command.outcomes.filter((outcome) => world.isFirst(command.workerId, outcome)))
}

interface Answer {
  readonly answer?: unknown
  readonly threw?: string
}

async function answerOf(side: Side, command: Command): Promise<Answer> {
  try {
    return { answer: await side.apply(command) }
  } catch (error) {
    return { threw: `threw ${String(error)}` }
  }
}

async function compareRows(
  [a, b]: Sides,
  runIds: readonly string[],
  world: World,
): Promise<Difference | undefined> {
  const [one, other] = [await a.read(runIds), await b.read(runIds)]
  for (const runId of runIds) {
    world.see(runId, one[runId]!)
    // Making the texts costs more than reading the rows. Equal rows have equal texts.
    if (isDeepStrictEqual(one[runId], other[runId])) continue
    const texts = [canonical(one[runId]), canonical(other[runId])] as const
    if (texts[0] !== texts[1])
      return { where: `the rows of run ${runId}`, one: texts[0], other: texts[1], runId }
  }
  return undefined
}

/** Both must prune the same runs, and leave nothing of them. */
async function comparePruned([a, b]: Sides, runIds: readonly string[]): Promise<Difference | undefined> {
  const [one, other] = [await pruneSome(a.adapter, runIds), await pruneSome(b.adapter, runIds)]
  const texts = [canonical(one), canonical(other)] as const
  const isGone = one.left.length === 0
  if (texts[0] === texts[1] && isGone) return undefined
  return { where: 'what is left of pruned runs', one: texts[0], other: texts[1] }
}

function describeFailure(
  seed: number,
  [a, b]: Sides,
  log: readonly Command[],
  difference: Difference,
): string {
  const { where, one, other, runId } = difference
  const last = log.at(-1)!
  const about = runId === undefined ? runsOf(last) : [runId]
  const lines = log.flatMap((command, n) => {
    const runs = runsOf(command)
    const concerns = runs === undefined || about === undefined || runs.some((run) => about.includes(run))
    return concerns || command === last ? [`${n + 1}. ${JSON.stringify(command)}`] : []
  })
  const left = lines.length > LOGGED_MAX ? [`… ${lines.length - LOGGED_MAX} earlier commands`] : []
  return [
    `${a.name} and ${b.name} differ in ${where}, after command ${log.length} of seed ${seed}.`,
    `${a.name}: ${one}`,
    `${b.name}: ${other}`,
    'Commands that may concern it:',
    ...left,
    ...lines.slice(-LOGGED_MAX),
  ].join('\n')
}
