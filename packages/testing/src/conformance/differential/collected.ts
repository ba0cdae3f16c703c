import type { CallerTransaction, CollectPolicy, NewCall } from '@belay/workflow/adapter'
import type { Harness } from '../harness.ts'
import type { Command } from './command.ts'
import { GRAPHS } from './graphs.ts'
import type { CollectCommand, PlannedCall } from './planned-call.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

// Multiples of three, as what time moves by. Two policies of a mode, as during a deployment.
const POLICIES: readonly CollectPolicy[] = [
  { mode: 'debounce', windowMs: 6_000, limitMs: 15_000, callsMax: null },
  { mode: 'debounce', windowMs: 3_000, limitMs: null, callsMax: null },
  { mode: 'throttle', windowMs: 12_000, limitMs: null, callsMax: null },
  { mode: 'batch', windowMs: 6_000, limitMs: null, callsMax: 3 },
  { mode: 'batch', windowMs: 30_000, limitMs: null, callsMax: 20 },
]
/** How many of the newest calls may come again. */
const REPEATED_MAX = 10
const PROBABILITY = 0.06
const LIVELY_RUNS_MAX = 12
const INPUT_MAX_BYTES = 40
const ROLLED_BACK = new Error('to be rolled back')

/** Plans calls, with random numbers of its own, so that the other commands of a seed stay what they were. */
export class CallPlanner {
  readonly #random: Random
  #sent: readonly PlannedCall[] = []

  constructor(random: Random) {
    this.#random = random
  }

  /** The next command about calls; undefined if it is the turn of another one. */
  next(world: World): Command | undefined {
    const random = this.#random
    if (!random.chance(PROBABILITY)) return undefined
    if (world.runIds.length > 0 && random.chance(0.3))
      return { do: 'collected', runId: random.pick(world.runIds) }
    if (world.livelyRunIds.length >= LIVELY_RUNS_MAX) return undefined
    const calls = Array.from({ length: 1 + random.below(4) }, () => this.#call(world))
    this.#sent = [...this.#sent, ...calls].slice(-REPEATED_MAX)
    return { do: 'collect', calls, within: random.pick(['alone', 'alone', 'commits', 'rolls back']) }
  }

  #call(world: World): PlannedCall {
    const random = this.#random
    if (this.#sent.length > 0 && random.chance(0.15)) return random.pick(this.#sent)
    const runId = world.ids.runId()
    return {
      ...{ runId, callId: runId, graph: random.below(2), collectKey: random.pick(['x', 'y']) },
      policy: random.pick(POLICIES),
      input: random.pick([null, `${random.below(100)}`, '"a text of twenty chars"']),
      tags: random.sample(['a', 'b', 'c'], random.below(3)),
      deadlineMs: random.pick([undefined, undefined, 60_000]),
    }
  }
}

/** Sends calls. A transaction that is rolled back has an answer too. Instants count from `startedAt`. */
export async function collect(
  { adapter, transaction }: Harness,
  { calls, within }: CollectCommand,
  { definitionIds, startedAt }: { readonly definitionIds: readonly number[]; readonly startedAt: number },
): Promise<unknown> {
  const planned = calls.map((call) => newCall(call, definitionIds))
  let answers = within === 'alone' ? await adapter.collectCalls(planned) : []
  if (within !== 'alone') {
    const work = async (tx: CallerTransaction) => {
      answers = await adapter.collectCalls(planned, { tx })
      if (within === 'rolls back') throw ROLLED_BACK
    }
    await transaction(work).catch((error: unknown) => {
      if (error !== ROLLED_BACK) throw error
    })
  }
  return answers.map(({ beginsAt, inputHash: _, ...answer }) => ({
    ...answer,
    beginsAt: Math.round(beginsAt - startedAt),
  }))
}

function newCall({ graph, ...call }: PlannedCall, definitionIds: readonly number[]): NewCall {
  const { name } = GRAPHS[graph]!
  const inputBytes = (call.input ?? 'null').length
  return {
    ...call,
    ...{ key: null, definitionId: definitionIds[graph]!, workflow: name },
    ...{ inputBytes, inputMaxBytes: INPUT_MAX_BYTES },
  }
}
