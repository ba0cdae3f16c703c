import type {
  Adapter,
  CallerTransaction,
  FoundSchedule,
  NewRun,
  ScheduleChange,
  ScheduleRecord,
} from '@belay/workflow/adapter'
import type { Harness } from '../harness.ts'
import { UNLIMITED } from '../scenario/worker.ts'
import { GRAPHS } from './graphs.ts'
import type { Random } from './random.ts'

/** Something done to a schedule of both stores. Its runs begin long after the comparison: no worker claims them. */
export interface ScheduleCommand {
  readonly do: 'schedule'
  readonly name: string
  readonly act: 'put' | 'fire' | 'queue' | 'close' | 'pause' | 'delete'
  readonly runId: string
  readonly key: string
  readonly inMs: number
  /** In an application's transaction, which commits or not. */
  readonly within: 'nothing' | 'committed' | 'rolled back'
}

const FAR_MS = 3_650 * 86_400_000
const ROLLED_BACK = new Error('to be rolled back')
const GRAPH = GRAPHS.findIndex(({ name }) => name === 'loose')

export function nextScheduleCommand(random: Random, number: number): ScheduleCommand {
  return {
    do: 'schedule',
    name: random.pick(['s1', 's2', 'S3']),
    act: random.weighted({ put: 4, fire: 6, queue: 3, close: 3, pause: 2, delete: 1 }),
    runId: `0192ffff-0000-7000-8000-${String(number).padStart(12, '0')}`,
    key: `s${random.below(40)}`,
    inMs: random.pick([-3_000, 3_000, 30_000]),
    within: random.weighted({ nothing: 6, committed: 2, 'rolled back': 1 }),
  }
}

/** Does it, and answers with everything that the store then shows of schedules. */
export async function applySchedule(
  harness: Harness,
  command: ScheduleCommand,
  { startedAt, definitionIds }: { readonly startedAt: number; readonly definitionIds: readonly number[] },
): Promise<unknown> {
  const { adapter } = harness
  const definitionId = definitionIds[GRAPH]!
  const apply = (tx?: CallerTransaction) =>
    adapter.changeSchedules(
      {
        names: [command.name],
        decide: (found) => ({ change: changeOf(command, found, { definitionId, startedAt }), answer: found }),
      },
      { tx },
    )
  const answer =
    command.within === 'nothing' ? await apply() : await withinTransaction(harness, command, apply)
  return relative({ answer, ...(await shownOf(adapter)) }, startedAt)
}

async function withinTransaction(
  { transaction }: Harness,
  { within }: ScheduleCommand,
  apply: (tx: CallerTransaction) => Promise<unknown>,
): Promise<unknown> {
  let answer: unknown
  const work = async (tx: CallerTransaction) => {
    answer = [await apply(tx), within === 'committed' ? await apply(tx) : null]
    if (within === 'rolled back') throw ROLLED_BACK
  }
  await transaction(work).catch((error: unknown) => {
    if (error !== ROLLED_BACK) throw error
  })
  return answer
}

async function shownOf(adapter: Adapter) {
  const { schedules } = await adapter.readSchedules({ limit: UNLIMITED })
  const names = async (filter: { readonly due?: true; readonly failing?: true; readonly paused?: true }) =>
    (await adapter.readSchedules({ ...filter, limit: UNLIMITED })).schedules.map(({ name }) => name)
  const firings = await Promise.all(
    schedules.map(({ name }) => adapter.readFirings({ name, limit: UNLIMITED })),
  )
  const queued = await adapter.readFirings({ name: 's1', queued: true, limit: 2 })
  return {
    schedules,
    firings,
    queued,
    due: await names({ due: true }),
    failing: await names({ failing: true }),
    paused: await names({ paused: true }),
  }
}

function changeOf(
  command: ScheduleCommand,
  found: FoundSchedule,
  { definitionId, startedAt }: { readonly definitionId: number; readonly startedAt: number },
): ScheduleChange | null {
  const nothing = { firings: [], starts: [], cancels: [] }
  const { schedule, now } = found
  if (schedule === null)
    return command.act === 'put' ? { ...nothing, schedule: newSchedule(command, Math.round(now)) } : null
  const dueAt = schedule.pausedAt === null ? Math.round(now) + command.inMs : null
  switch (command.act) {
    case 'put':
      return { ...nothing, schedule: { ...schedule, input: JSON.stringify(command.key), dueAt } }
    case 'delete':
      return { ...nothing, schedule: null }
    case 'pause':
      return {
        ...nothing,
        schedule: { ...schedule, pausedAt: Math.round(now), dueAt: null, pauseReason: 'why' },
      }
    case 'close':
      return {
        ...nothing,
        schedule,
        firings: found.open.map(({ runStatus: _, ...firing }) => ({
          ...firing,
          status: 'failed',
          isOpen: false,
        })),
      }
    case 'queue':
    case 'fire':
      return firingOf(command, found, { definitionId, dueAt, startedAt })
  }
}

function firingOf(
  { act, runId, key }: ScheduleCommand,
  { schedule, now }: FoundSchedule,
  given: { readonly definitionId: number; readonly dueAt: number | null; readonly startedAt: number },
): ScheduleChange {
  const sequence = schedule!.firings + 1
  const isQueued = act === 'queue'
  const times = { scheduledAt: Math.round(now), untilAt: null, decidedAt: Math.round(now) }
  const ownId = runId.slice(0, -3) + String(sequence % 1_000).padStart(3, '0')
  const run: NewRun = {
    ...{ runId: ownId, definitionId: given.definitionId, workflow: GRAPHS[GRAPH]!.name, key },
    ...{ input: null, startAt: Math.round(given.startedAt) + FAR_MS },
  }
  const reason = isQueued ? 'waits' : null
  const firing = { sequence, ...times, cause: 'time', reason, runId: isQueued ? null : ownId } as const
  return {
    schedule: { ...schedule!, firings: sequence, dueAt: given.dueAt },
    firings: [{ ...firing, status: isQueued ? 'queued' : 'started', isOpen: true }],
    starts: isQueued ? [] : [run],
    cancels: [],
  }
}

function newSchedule({ name, key, inMs }: ScheduleCommand, now: number): ScheduleRecord {
  return {
    ...{
      name,
      workflow: 'w',
      input: JSON.stringify(key),
      revision: 0,
      firings: 0,
      createdAt: 0,
      updatedAt: 0,
    },
    ...{ pausedAt: null, pauseReason: null, nextAt: now + inMs, dueAt: now + inMs },
    spec: {
      timing: { everyMs: 1_000, anchorAt: 0 },
      ...{ version: null, overlap: 'skip', catchUp: 'last', jitterMs: 0, until: null, tags: [key] },
      ...{ timeAs: null, declared: inMs > 3_000 },
    },
  }
}

const INSTANTS: ReadonlySet<string> = new Set([
  'now',
  'pausedAt',
  'nextAt',
  'dueAt',
  'createdAt',
  'updatedAt',
  'scheduledAt',
  'decidedAt',
])

/** Stores began at different instants; two reads of a store's clock may differ by a rounding. */
function relative(value: unknown, startedAt: number): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, inner: unknown) => {
      if (key === 'definitionId') return undefined
      return INSTANTS.has(key) && typeof inner === 'number' ? Math.round((inner - startedAt) / 3) : inner
    }),
  )
}
