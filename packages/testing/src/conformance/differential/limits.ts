import {
  type Adapter,
  type LimitEntry,
  type LimitLine,
  type LimitRecord,
  type OlderRun,
  type Outcome,
  type RateSpan,
  skipText,
} from '@belay/workflow/adapter'
import { enters } from '../scenario/index.ts'
import { UNLIMITED } from '../scenario/worker.ts'
import type { LimitCommand } from './command.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

const NAMES = ['l1', 'l2', 'l3']
const KEYS = ['', 'k1', 'k2']
const WEIGHTS = {
  ...{ enter: 60, declareLimit: 5, setLimit: 5, tendLimits: 14, readLimits: 8, limitWaits: 8 },
  ...{ declareRate: 3, setRate: 4, pushBackLimit: 2 },
}
const LATE_PROBABILITY = 0.1

export function isAboutLimits(command: { readonly do: string }): command is LimitCommand {
  return Object.hasOwn(WEIGHTS, command.do)
}

/** The next command about limits. Undefined as long as there is nothing to do with them. */
export function nextLimitCommand(world: World, random: Random): LimitCommand | undefined {
  const workerId = random.pick(world.workerIds)
  if (workerId === undefined || world.runIds.length === 0) return undefined
  const kind = random.weighted(WEIGHTS)
  const name = random.pick(NAMES)
  switch (kind) {
    case 'enter':
      return { do: kind, workerId, outcomes: entering(world, random, workerId) }
    case 'declareLimit':
      return { do: kind, name, concurrency: 1 + random.below(3) }
    case 'setLimit':
      return { do: kind, name, concurrency: random.pick([null, 0, 1, 2, 5]) }
    case 'declareRate':
      return { do: 'declareLimit', name, concurrency: 1 + random.below(3), rate: anyRate(random) }
    case 'setRate':
      return { do: 'setLimit', name, concurrency: random.pick([0, 1, 2, 50]), rate: anyRate(random) }
    case 'pushBackLimit': {
      const line = { limit: name, key: random.pick(KEYS) }
      return { do: kind, line, afterMs: random.pick([0, 500, 20_000]) }
    }
    case 'tendLimits':
      return { do: kind, limit: random.pick([1, 100]) }
    case 'readLimits':
      return { do: kind }
    case 'limitWaits':
      return { do: kind, runId: random.pick(world.runIds) }
  }
}

function anyRate(random: Random): RateSpan {
  return { perMs: random.pick([1_000, 30_000, 120_000]), burst: 1 + random.below(3) }
}

/** Mostly for what the worker holds. A step asks for the same at each of its attempts, as with real keys. */
function entering(world: World, random: Random, worker: string): readonly Outcome[] {
  const late = random.chance(LATE_PROBABILITY)
  const candidates = world.attempts.filter(
    ({ claim, workerId, settled }) =>
      claim.direction === 'forward' && (late || (workerId === worker && settled === undefined)),
  )
  const picked = random.sample(candidates, 1 + random.below(6))
  return picked.map(({ claim }) => enters(claim, ...entriesOf(claim)))
}

function entriesOf({
  runId,
  step,
}: {
  readonly runId: string
  readonly step: number
}): readonly LimitEntry[] {
  const seed = Number.parseInt(runId.slice(-4), 16) + step
  const key = KEYS[seed % 2]!
  const own: LimitEntry = { limit: NAMES[0]!, key, of: 'step' }
  const other: LimitEntry = { limit: NAMES[1]!, key: KEYS[seed % 3]!, of: 'step' }
  const ofRun: LimitEntry = { limit: NAMES[2]!, key: '', of: 'run' }
  return [[own], [own, other], [other], [ofRun], [ofRun, own]][seed % 5]!.map((each) => leaving(runId, each))
}

/** Some runs don't wait: all their steps say the same of one limit, as the steps of a workflow do. */
function leaving(runId: string, place: LimitEntry): LimitEntry {
  const left = NAMES[Number.parseInt(runId.slice(-4), 16) % 7]
  return place.limit === left ? { ...place, ifFull: ifFull(place) } : place
}

function ifFull({ limit, key, of }: LimitEntry): string {
  return of === 'step'
    ? skipText({ because: 'limit', limit, key })
    : JSON.stringify({ type: 'limit_reached', limit, key })
}

/** What a store answers to a command about limits, with instants counted from the `startedAt` of its side. */
export async function applyLimitCommand(
  adapter: Adapter,
  command: LimitCommand,
  side: { readonly startedAt: number; readonly own: (outcomes: readonly Outcome[]) => readonly Outcome[] },
): Promise<unknown> {
  switch (command.do) {
    case 'enter': {
      const { workerId } = command
      const outcomes = side.own(command.outcomes)
      const { results, claims, runs } = await adapter.settle({ workerId, outcomes, handBackMax: UNLIMITED })
      return { results, claims: byRun(claims), runs: byRun(runs) }
    }
    case 'declareLimit':
      return adapter.declareLimits([
        { name: command.name, concurrency: command.concurrency, rate: command.rate },
      ])
    case 'setLimit':
      return comparableLimit(
        await adapter.setLimit({ name: command.name, concurrency: command.concurrency, rate: command.rate }),
        side,
      )
    case 'pushBackLimit':
      return adapter.pushBackLimits({ lines: [command.line], afterMs: command.afterMs })
    case 'tendLimits':
      return tendAll(adapter, command.limit)
    case 'readLimits':
      return {
        limits: (await adapter.readLimits()).map((limit) => comparableLimit(limit, side)),
        older: [await olderRuns(adapter, null, 100), await olderRuns(adapter, KEYS[1]!, 1)],
        circles: await adapter.readLimitCircles(),
        lines: await Promise.all(NAMES.map((name) => linesOf(adapter, name, side))),
      }
    case 'limitWaits':
      return (await adapter.readLimitWaits(command.runId)).map(({ since, at, concurrency, ...wait }) => ({
        ...{ ...wait, since: Math.round(since - side.startedAt) },
        at: at === null ? null : Math.round(at - side.startedAt),
        // JSON has no infinity.
        concurrency: String(concurrency),
      }))
  }
}

async function linesOf(
  adapter: Adapter,
  limit: string,
  { startedAt }: { readonly startedAt: number },
): Promise<unknown> {
  const lines = await adapter.readLimitLines({ limit, max: 100 })
  return lines.map(({ first, ...line }) => ({
    ...line,
    first: first && { ...first, since: Math.round(first.since - startedAt) },
  }))
}

function olderRuns(adapter: Adapter, key: string | null, limit: number): Promise<readonly OlderRun[]> {
  return adapter.findOlderRuns({ lines: NAMES.map((name) => ({ limit: name, key })), limit })
}

/** Nothing depends on their order. */
function byRun<Row extends { readonly runId: string; readonly step?: number }>(
  rows: readonly Row[],
): readonly Row[] {
  return [...rows].sort((one, other) =>
    one.runId === other.runId ? one.step! - other.step! : one.runId < other.runId ? -1 : 1,
  )
}

function comparableLimit(
  limit: LimitRecord | null,
  { startedAt }: { readonly startedAt: number },
): LimitRecord | null {
  if (limit === null || limit.pushedBackUntil === null) return limit
  return { ...limit, pushedBackUntil: Math.round(limit.pushedBackUntil - startedAt) }
}

/** Tends until nothing is left: two steps of one run may get their slots in two looks. */
async function tendAll(adapter: Adapter, limit: number): Promise<unknown> {
  let after: LimitLine | null = null
  let queued = false
  do {
    const tended = await adapter.tendLimits({ after, limit, unclaimedMs: 9_000 })
    after = tended.after
    queued ||= tended.queued
  } while (after !== null)
  return { queued }
}
