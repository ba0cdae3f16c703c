import { STATUS_WORDS, statusesOf } from '@belay/workflow'
import type { Names } from '../../src/api/names.ts'
import type {
  Health,
  ListedRun,
  ListedStep,
  Overview,
  RunCounts,
  RunPage,
  RunsPage,
  Session,
} from '../../src/api.ts'
import { findingsOn } from './findings.ts'

/** What the fixture answers. */
export interface Answers {
  readonly session: Session
  readonly overview: Overview
  readonly health: Health
  readonly counts: RunCounts
  readonly names: Names
  readonly runs: (query: URLSearchParams) => RunsPage
  readonly run: (name: string) => RunPage | undefined
  /** Of `runs/:id/items…`: what follows the id, and the query. */
  readonly items?: (path: string, query: URLSearchParams) => unknown
}

const NOW = Date.parse('2026-11-24T16:16:19.100Z')

/** As short as it can be said: a letter for each step. */
const STATUSES: Readonly<Record<string, ListedStep['status']>> = {
  c: 'completed',
  r: 'running',
  o: 'ready',
  w: 'waiting',
  p: 'pending',
  f: 'failed',
  s: 'skipped',
  u: 'compensated',
  b: 'compensating',
  x: 'compensation_failed',
}

type Line = readonly [
  status: ListedRun['status'],
  key: string | undefined,
  workflow: string,
  version: number,
  steps: string,
  why: string,
  agoMs: number,
  lastedMs?: number,
]

const LINES: readonly Line[] = [
  [
    'running',
    'order:9231',
    'fulfil-order',
    3,
    'rrpppppppp',
    '“reserveStock” has been running on worker orders-1 since 17:16:17, in attempt 1 of 5.',
    2_100,
  ],
  [
    'running',
    'order:9230',
    'fulfil-order',
    3,
    'cccwrppppp',
    '“packItem”: 3 of 12 items are done and 6 are running.',
    14_000,
  ],
  [
    'running',
    'order:9228',
    'fulfil-order',
    3,
    'cccccowppp',
    '“bookCourier” failed once (CourierError: no capacity in zone 8) and runs again at 17:16:21.',
    25_000,
  ],
  ['completed', 'invoice:55102', 'send-invoice', 5, 'ccc', 'Completed in 4.9 s.', 30_000, 4_900],
  [
    'compensating',
    'order:9229',
    'fulfil-order',
    3,
    'cccscurfpp',
    'Was stopped, and is undone once 1 running step has ended: “notifyWarehouse”.',
    39_000,
  ],
  [
    'compensating',
    'order:9226',
    'fulfil-order',
    3,
    'ccbsuufppp',
    'Is being undone: 2 steps to go. The compensation of “chargeCard” is running.',
    48_000,
  ],
  [
    'compensation_failed',
    'order:9210',
    'fulfil-order',
    3,
    'cxusuufppp',
    'Is parked: the undo of “chargeCard” failed for good (RefundError: refund window closed).',
    61_000,
  ],
  [
    'waiting',
    'order:9225',
    'fulfil-order',
    3,
    'cccscccwpp',
    '“shipped” waits for a signal, until 1 Dec 17:15 at the latest.',
    71_000,
  ],
  [
    'failed',
    'invoice:55101',
    'send-invoice',
    5,
    'fpp',
    '“validate” failed for good (ValidationError: postcode is missing). Nothing had to be undone.',
    83_000,
    2_100,
  ],
  [
    'parked',
    'order:9224',
    'fulfil-order',
    3,
    'ccoppppppp',
    '“chargeCard” has no more attempts, and waits for a person to retry or skip it.',
    96_000,
  ],
  ['completed', 'order:9223', 'fulfil-order', 3, 'cccscccccc', 'Completed in 34 s.', 118_000, 34_000],
  [
    'running',
    'cities:2026-11-24',
    'import-cities',
    7,
    'crppp',
    '“importCity”: 274 of 400 items are done, 20 are running, and 18 failed.',
    148_000,
  ],
  ['completed', 'order:9221', 'fulfil-order', 3, 'cccscccccc', 'Completed in 34 s.', 170_000, 34_000],
  [
    'compensated',
    'order:9219',
    'fulfil-order',
    3,
    'uuusuufppp',
    '“bookCourier” failed for good (CourierError: no capacity in zone 8). All 5 effects are undone.',
    219_000,
    52_000,
  ],
  ['completed', 'invoice:55097', 'send-invoice', 5, 'ccc', 'Completed in 4.9 s.', 260_000, 4_900],
  [
    'paused',
    'order:9216',
    'fulfil-order',
    3,
    'cccsoppppp',
    'Was paused by an operator at 17:12:01: “warehouse inventory”. It was going forward.',
    302_000,
  ],
  [
    'waiting',
    undefined,
    'fulfil-order',
    3,
    'cccscccwpp',
    '“shipped” waits for a signal, until 1 Dec 17:10 at the latest.',
    366_000,
  ],
  [
    'cancelled',
    'order:9213',
    'fulfil-order',
    3,
    'uuusuuffpp',
    'Was cancelled: “the customer changed their mind”. All 4 effects are undone.',
    390_000,
    52_000,
  ],
  ['scheduled', 'report:2026-12', 'monthly-report', 1, 'ppp', 'Is to start at 1 Dec 06:00.', 613_000],
  [
    'completed',
    '<script>alert(1)</script> & a key that somebody made far too long to fit anywhere',
    'send-invoice',
    5,
    'ccc',
    'Completed in 5.1 s.',
    90_000_000,
    5_100,
  ],
]

function runOf(
  [status, key, workflow, version, steps, why, agoMs, lastedMs]: Line,
  index: number,
): ListedRun {
  const createdAt = NOW - agoMs
  return {
    id: idOf(createdAt, index),
    workflow,
    version,
    key,
    status,
    createdAt,
    finishedAt: lastedMs === undefined ? undefined : createdAt + lastedMs,
    tags: ['tenant:7'],
    why,
    steps: [...steps].map((letter, step) => ({
      name: `step${step}`,
      status: STATUSES[letter]!,
      kind: step === 4 ? 'map' : 'work',
      items: step === 4 ? { total: 12, ended: 3, failed: 0 } : undefined,
    })),
  }
}

/** Ordered by time, like the ids of real runs. */
function idOf(createdAt: number, index: number): string {
  const time = createdAt.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(index).padStart(12, '0')}`
}

export const RUNS: readonly ListedRun[] = LINES.map(runOf)

/** A run that begins after all of those. */
export function newerRun(index: number): ListedRun {
  return runOf(
    [
      'running',
      `order:new-${index}`,
      'fulfil-order',
      3,
      'rppppppppp',
      '“reserveStock” is running.',
      -1_000 * index,
    ],
    100 + index,
  )
}

/** A page of those runs, newest first, as the store would give it. */
export function pageOf(runs: readonly ListedRun[], query: URLSearchParams): RunsPage {
  const all = [...runs].sort((a, b) => (a.id < b.id ? 1 : -1))
  const [before, after, key] = ['before', 'after', 'key'].map((name) => query.get(name))
  const statuses = query.getAll('status')
  const limit = Number(query.get('limit') ?? 50)
  const found = all.filter(
    (run) =>
      (statuses.length === 0 || statuses.includes(run.status)) &&
      (!key || (key.endsWith('*') ? run.key?.startsWith(key.slice(0, -1)) : run.key === key)) &&
      (!before || run.id < before) &&
      (!after || run.id > after),
  )
  const page = after ? found.slice(-limit) : found.slice(0, limit)
  return {
    readAt: NOW,
    runs: page,
    more: page.length > 0 && all.some(({ id }) => id < page.at(-1)!.id) && found.length > page.length,
  }
}

const count = (number: number, capped = false) => ({ count: number, capped })

const OVERVIEW: Overview = {
  readAt: NOW,
  parkedUndos: count(47),
  approvals: count(3),
  liveRuns: {
    running: count(318),
    waiting: count(10_000, true),
    scheduled: count(1_204),
    parked: count(6),
    paused: count(3),
    compensating: count(9),
    compensation_failed: count(47),
  },
  ready: { ...count(64), oldestAgeMs: 1_800 },
  workers: 5,
  findings: 4,
  otherFindings: 3,
}

const HEALTH: Health = {
  readAt: NOW,
  tookMs: 41,
  findings: findingsOn(RUNS),
  lastMinute: { started: count(96), ended: count(94) },
  lastHour: [60, 72, 88, 91, 90, 85, 20, 44, 96, 99, 97, 95],
  overview: OVERVIEW,
  workers: { live: 3, expired: 1, dead: 1, slots: 60, busy: 37, capped: false },
}

const NOBODY: Health['workers'] = { live: 0, expired: 0, dead: 0, slots: 0, busy: 0, capped: false }

const NOTHING: Overview = {
  ...OVERVIEW,
  parkedUndos: count(0),
  approvals: count(0),
  liveRuns: {},
  ready: { ...count(0), oldestAgeMs: 0 },
  workers: 0,
  findings: 0,
  otherFindings: 0,
}

/** A store that was just made. */
export const EMPTY: Partial<Answers> = {
  overview: NOTHING,
  health: { ...HEALTH, findings: [], overview: NOTHING, workers: NOBODY },
  counts: {},
  runs: () => ({ readAt: NOW, runs: [], more: false }),
}

function runPage(name: string): RunPage | undefined {
  const run = RUNS.find(({ id, key }) => id.startsWith(name) || key === name)
  if (run === undefined) return undefined
  const { id, workflow, version, key, status, createdAt, finishedAt, why } = run
  return {
    revision: 'fixture.1',
    run: { id, workflow, version, key, status, createdAt, finishedAt, readAt: NOW, steps: [], rounds: 1 },
    tags: ['tenant:7'],
    priority: 0,
    why,
    open: [{ step: 'reserveStock', reason: 'running', sentence: why, until: NOW + 30_000, actions: [] }],
    actions: [],
    effects: { undone: 0, remain: 2, kept: 0, unknown: 0 },
    history: [],
    children: [],
  }
}

/** The page of a run that one run started, and that started more than a branch shows. */
export function amongOthers(name: string): RunPage | undefined {
  const page = runPage(name)
  return page && { ...page, parent: RUNS[1]!, children: RUNS.slice(2) }
}

export const ANSWERS: Answers = {
  session: {
    by: 'ada@shop.example',
    can: [],
    title: 'shop · prod',
    statuses: Object.fromEntries(STATUS_WORDS.map((word) => [word, statusesOf(word)!])),
  },
  names: { workflows: [{ name: 'fulfil-order', steps: ['reserveStock', 'chargeCard'] }] },
  overview: OVERVIEW,
  health: HEALTH,
  counts: {
    ...OVERVIEW.liveRuns,
    failed: count(212),
    completed: count(10_000, true),
    compensated: count(689),
    cancelled: count(131),
  },
  runs: (query) => pageOf(RUNS, query),
  run: runPage,
}
