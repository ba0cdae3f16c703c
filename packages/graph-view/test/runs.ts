import type { ViewAttempt, ViewItem, ViewRun, ViewStep } from '../src/index.ts'
import { randomOf } from './random.ts'

/** 24 November 2026, 13:02:11 UTC. */
export const T0 = Date.UTC(2026, 10, 24, 13, 2, 11)

type Times = readonly [
  startAt: number,
  endAt: number | undefined,
  ended: ViewAttempt['ended'],
  error?: string,
]

const attempts = (direction: ViewAttempt['direction'], times: readonly Times[]): ViewAttempt[] =>
  times.map(([startAt, endAt, ended, error], index) => ({
    direction,
    round: 1,
    attempt: index + 1,
    startAt: T0 + startAt * 1000,
    endAt: endAt === undefined ? undefined : T0 + endAt * 1000,
    ended,
    error,
  }))

/** A step from its attempts, in seconds after the begin of its run. */
export function step(
  name: string,
  dependsOn: readonly string[],
  status: ViewStep['status'],
  {
    forward = [],
    undo = [],
    ...rest
  }: Omit<Partial<ViewStep>, 'undo'> & { forward?: readonly Times[]; undo?: readonly Times[] } = {},
): ViewStep {
  const known = [...attempts('forward', forward), ...attempts('undo', undo)]
  const failures = undo.filter(([, , ended]) => ended !== 'completed').length
  return {
    name,
    dependsOn,
    status,
    kind: 'work',
    compensate: 'never',
    pivot: false,
    irreversible: false,
    round: 1,
    attempts: forward.length,
    failures: 0,
    losses: 0,
    kept: false,
    known,
    undo: undo.length === 0 ? undefined : { attempts: undo.length, failures, losses: 0, skipped: false },
    ...rest,
  }
}

function run(
  over: Partial<ViewRun> & Pick<ViewRun, 'workflow' | 'status' | 'steps'>,
  readAfter: number,
): ViewRun {
  return {
    id: '0192f36c-0000-7000-8000-000000000c41',
    version: 3,
    createdAt: T0,
    readAt: T0 + readAfter * 1000,
    rounds: 1,
    ...over,
  }
}

const COURIER = 'CourierError: no capacity in zone 8'
const REFUND = 'RefundError: refund window closed (PSP-4410)'

function items(
  count: number,
  from: number,
  each: number,
  lanes: number,
  failing: ReadonlySet<number> = new Set(),
): ViewItem[] {
  const random = randomOf(count)
  const free = new Array<number>(lanes).fill(from)
  return Array.from({ length: count }, (_, index) => {
    const lane = free.indexOf(Math.min(...free))
    const startAt = free[lane]! + random() * 0.1 * each
    const endAt = startAt + each * (0.6 + random() * 0.8)
    free[lane] = endAt
    const status = failing.has(index) ? 'failed' : 'completed'
    return {
      key: `item-${index}`,
      status,
      startAt: Math.round(T0 + startAt * 1000),
      endAt: Math.round(T0 + endAt * 1000),
    }
  })
}

const undoneItems = (all: readonly ViewItem[], from: number, to: number): ViewItem[] =>
  all.map((item, index) => {
    const undoStartAt = Math.round(T0 + (from + ((index * 7) % 12) * ((to - from) / 24)) * 1000)
    return {
      ...item,
      status: 'compensated',
      undoStartAt,
      undoEndAt: Math.min(T0 + to * 1000, undoStartAt + Math.round((to - from) * 480)),
    }
  })

/** The order of the dashboard's example; it stops at bookCourier unless it completes. */
function order(kind: 'completed' | 'undone' | 'parked'): readonly ViewStep[] {
  const stops = kind !== 'completed'
  const pack = items(12, 11.8, 4.6, 6)
  const packed = stops ? undoneItems(pack, 42.4, 44.5) : pack
  const fails: Times[] = [
    [44.7, 46.2, 'retrying', REFUND],
    [47.3, 48.9, 'retrying', REFUND],
    [51.2, 52.6, 'retrying', REFUND],
  ]
  const parked: Times[] = [...fails, [57.1, 58.4, 'retrying', REFUND], [67.9, 69.4, 'failed', REFUND]]
  const undo = (times: readonly Times[]) => (stops ? times : [])
  const done = stops ? 'compensated' : 'completed'
  const courier: Times[] = stops
    ? [
        [22.2, 24, 'retrying', COURIER],
        [25.1, 27, 'retrying', COURIER],
        [29.2, 31.1, 'retrying', COURIER],
        [35.4, 37.1, 'failed', COURIER],
      ]
    : [
        [22.2, 24, 'retrying', COURIER],
        [25.1, 28.4, 'completed'],
      ]
  const late = (
    name: string,
    on: string,
    forward: readonly Times[],
    over: Partial<Pick<ViewStep, 'kind'>> = {},
  ) => step(name, [on], stops ? 'cancelled' : 'completed', { ...over, forward: stops ? [] : forward })
  return [
    step('reserveStock', [], kind === 'parked' ? 'compensating' : done, {
      compensate: 'completed',
      forward: [[0.2, 3.8, 'completed']],
      undo: kind === 'undone' ? [[49.2, 51.6, 'completed']] : [],
    }),
    step('checkFraud', [], 'completed', {
      forward: [
        [0.2, 2.9, 'retrying', 'TimeoutError: no answer'],
        [4.1, 6.9, 'completed'],
      ],
    }),
    step('chargeCard', ['reserveStock', 'checkFraud'], kind === 'parked' ? 'compensation_failed' : done, {
      compensate: 'completed',
      forward: [[7, 11.6, 'completed']],
      undo: undo(
        kind === 'parked'
          ? parked
          : [
              [44.7, 46.2, 'retrying', REFUND],
              [47.3, 49.1, 'completed'],
            ],
      ),
    }),
    step('addPoints', ['chargeCard'], 'skipped', { skipped: 'its condition was not met' }),
    step('packItem', ['chargeCard'], done, {
      kind: 'map',
      compensate: 'completed',
      items: { total: 12, ended: 12, statuses: { [done]: 12 }, failed: false, some: packed },
    }),
    step('notifyWarehouse', ['packItem'], done, {
      compensate: 'completed',
      forward: [[22.2, stops ? 40.7 : 24, 'completed']],
      undo: undo([[40.9, 42.3, 'completed']]),
    }),
    step('bookCourier', ['packItem'], stops ? 'failed' : 'completed', {
      compensate: 'completed',
      forward: courier,
      error: stops ? COURIER : undefined,
    }),
    step('sendTracking', ['notifyWarehouse', 'bookCourier'], stops ? 'cancelled' : 'completed', {
      forward: stops ? [] : [[28.6, 29.5, 'completed']],
    }),
    late('shipped', 'sendTracking', [[29.6, 31, 'waiting']], { kind: 'signal' }),
    late('askForReview', 'shipped', [[31.1, 33.5, 'completed']]),
  ]
}

const stopped = {
  stoppedAt: T0 + 37_100,
  drainedAt: T0 + 40_700,
  cause: { type: 'step_failed', step: 'bookCourier', text: COURIER },
} as const

export const completed = run(
  {
    workflow: 'fulfil-order',
    key: 'order:9210',
    status: 'completed',
    finishedAt: T0 + 33_500,
    steps: order('completed'),
  },
  640,
)
export const undone = run(
  {
    workflow: 'fulfil-order',
    key: 'order:9219',
    status: 'compensated',
    finishedAt: T0 + 51_600,
    steps: order('undone'),
    ...stopped,
  },
  220,
)
export const parked = run(
  {
    workflow: 'fulfil-order',
    key: 'order:9182',
    status: 'compensation_failed',
    steps: order('parked'),
    ...stopped,
  },
  11_649,
)

const failing = new Set([3, 17, 44, 45, 46, 47, 48, 49, 50, 51, 118, 119, 203, 204, 205, 206, 207, 260])
/** 400 items in 20 lanes, read while it runs. */
export const mapped = ((readAfter: number): ViewRun => {
  const now = T0 + readAfter * 1000
  const some = items(400, 6.4, 9, 20, failing).map((item): ViewItem => {
    if (item.startAt! > now) return { key: item.key, status: 'pending' }
    return item.endAt! > now ? { key: item.key, status: 'running', startAt: item.startAt } : item
  })
  const statuses: Record<string, number> = {}
  for (const { status } of some) statuses[status] = (statuses[status] ?? 0) + 1
  const ended = (statuses['completed'] ?? 0) + (statuses['failed'] ?? 0)
  const steps = [
    step('download', [], 'completed', { compensate: 'completed', forward: [[0.3, 5.9, 'completed']] }),
    step('importCity', ['download'], 'running', {
      kind: 'map',
      compensate: 'completed',
      items: { total: 400, ended, statuses, failed: false, some },
    }),
    step('buildIndex', ['importCity'], 'pending', { compensate: 'completed' }),
    step('publish', ['buildIndex'], 'pending', { pivot: true }),
    step('tellSearch', ['publish'], 'pending'),
  ]
  return run({ workflow: 'import-cities', key: 'cities:2026-11-24', status: 'running', steps }, readAfter)
})(148)

export const approval = run(
  {
    workflow: 'purchase-approval',
    key: 'PO-7731',
    status: 'waiting',
    steps: [
      step('checkBudget', [], 'completed', { forward: [[0.2, 1.4, 'completed']] }),
      step('reserveBudget', ['checkBudget'], 'completed', {
        compensate: 'completed',
        forward: [[1.5, 2.6, 'completed']],
      }),
      step('askManager', ['reserveBudget'], 'completed', {
        kind: 'approval',
        forward: [[2.7, 93_600, 'waiting']],
      }),
      step('approveSpend', ['askManager'], 'waiting', {
        kind: 'approval',
        forward: [[93_600.4, undefined, 'waiting']],
        waitingSince: T0 + 93_600_400,
      }),
      step('placeOrder', ['approveSpend'], 'pending', { compensate: 'completed' }),
      step('tellRequester', ['placeOrder'], 'pending'),
    ],
  },
  180_000,
)

const long = 'aVeryLongNameThatGoesOnAndOn'.repeat(11).slice(0, 300)
/** Names that would break a page or a file that trusts them. */
export const hostile = run(
  {
    workflow: '<script>alert(1)</script>',
    status: 'running',
    steps: [
      step('<script>alert("x")</script>', [], 'completed', {
        forward: [[0.2, 3, 'completed']],
        compensate: 'completed',
      }),
      step(`"quoted' & <b>`, ['<script>alert("x")</script>'], 'failed', {
        forward: [[3.1, 6, 'failed', '</svg><script>']],
        error: '</svg><script>',
      }),
      step('תשלום \u202edrac', ['<script>alert("x")</script>'], 'completed', {
        forward: [[3.1, 8, 'completed']],
      }),
      step(long, ['<script>alert("x")</script>', `"quoted' & <b>`], 'cancelled'),
      step(`${long.slice(0, 299)}2`, ['<script>alert("x")</script>'], 'completed', {
        forward: [[4, 9, 'completed']],
      }),
      step('null\u0000byte \ud800', ['תשלום \u202edrac'], 'cancelled'),
    ],
    stoppedAt: T0 + 6000,
  },
  9,
)

export const all = { completed, undone, parked, mapped, approval }
