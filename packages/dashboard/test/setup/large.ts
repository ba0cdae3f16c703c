import type { ItemStates, ViewItem, ViewRun, ViewStep } from '@belay/graph-view'
import type { ItemsPage, OpenStep, RunPage } from '../../src/api.ts'

const STARTED = Date.parse('2026-11-24T16:00:00.000Z')
const NOW = Date.parse('2026-11-24T16:16:19.100Z')
const COLUMNS = 10

/** The first steps have completed, some run, the others wait for them; the one in the middle is a map. */
export function largePage({ steps, items }: { readonly steps: number; readonly items: number }): RunPage {
  const done = Math.floor(steps * 0.6)
  const statusOf = (index: number) =>
    index < done ? 'completed' : index < done + COLUMNS ? 'running' : 'pending'
  const all = Array.from({ length: steps }, (_, index) => stepOf(index, statusOf(index)))
  const middle = all[Math.floor(steps / 2)]!
  const mapped: ViewStep = { ...middle, kind: 'map', items: itemsOf(items) }
  const run: ViewRun = {
    id: '019386a0-0000-7000-8000-000000010000',
    workflow: 'nightly-ledger',
    version: 7,
    key: 'ledger:2026-11-24',
    status: 'running',
    createdAt: STARTED,
    readAt: NOW,
    steps: all.map((step) => (step === middle ? mapped : step)),
    rounds: 1,
  }
  return {
    revision: 'fixture.1',
    run,
    tags: [],
    priority: 0,
    why: `${COLUMNS} steps are running.`,
    open: run.steps.slice(done).map(openOf),
    actions: [],
    effects: { undone: 0, remain: done, kept: 0, unknown: 0 },
    history: [],
    children: [],
  }
}

export function nameOfStep(index: number): string {
  return `post-${String(index).padStart(5, '0')}`
}

/** Ten steps a layer; each depends on the one above it and on its neighbour. */
function stepOf(index: number, status: ViewStep['status']): ViewStep {
  const layer = Math.floor(index / COLUMNS)
  const above = (layer - 1) * COLUMNS
  const column = index % COLUMNS
  const startAt = STARTED + layer * 900
  const isBegun = status !== 'pending'
  const endAt = status === 'completed' ? startAt + 300 + column * 50 : undefined
  const ended = status === 'completed' ? 'completed' : 'running'
  return {
    name: nameOfStep(index),
    kind: 'work',
    dependsOn: layer === 0 ? [] : [nameOfStep(above + column), nameOfStep(above + ((column + 1) % COLUMNS))],
    compensate: 'completed',
    pivot: false,
    irreversible: false,
    status,
    round: 1,
    attempts: isBegun ? 1 : 0,
    failures: 0,
    losses: 0,
    known: isBegun ? [{ direction: 'forward', round: 1, attempt: 1, startAt, endAt, ended }] : [],
    kept: false,
  }
}

function openOf({ name, status, dependsOn }: ViewStep): OpenStep {
  const sentence =
    status === 'running' ? `“${name}” is running.` : `“${name}” waits for “${dependsOn.join('” and “')}”.`
  return { step: name, reason: status === 'running' ? 'running' : 'dependencies', sentence, actions: [] }
}

/** Each thousandth item has failed, from the 500th on. */
function hasFailed(index: number): boolean {
  return index % 1_000 === 500
}

function itemsOf(total: number): ViewStep['items'] {
  const failed = Array.from({ length: total }, (_, index) => index).filter(hasFailed).length
  const some = Array.from({ length: Math.min(400, total) }, (_, index): ViewItem => {
    const startAt = STARTED + 450_000 + index * 5
    return { key: `account-${index}`, status: 'completed', startAt, endAt: startAt + 900 }
  })
  return { total, ended: total, statuses: { completed: total - failed, failed }, failed: false, some }
}

/** The states of those items, as the server tells them. */
export function largeStates(total: number): ItemStates {
  const states: [ViewItem['status'], number][] = []
  for (let index = 0; index < total; index++) {
    const status = hasFailed(index) ? 'failed' : 'completed'
    const last = states.at(-1)
    if (last?.[0] === status) last[1] += 1
    else states.push([status, 1])
  }
  return states
}

/** A page of them, as the server gives it. */
export function largeItems(total: number, query: URLSearchParams): ItemsPage {
  const from = Number(query.get('after') ?? -1) + 1
  const isFailing = query.get('failing') === 'true'
  const found = Array.from({ length: total - from }, (_, place) => from + place).filter(
    (index) => !isFailing || hasFailed(index),
  )
  return { items: found.slice(0, 50).map(itemOf), more: found.length > 50 }
}

function itemOf(index: number): ItemsPage['items'][number] {
  const failed = hasFailed(index)
  const step = stepOf(0, failed ? 'failed' : 'completed')
  const error = failed ? 'LedgerError: account is closed' : undefined
  return { ...step, name: `map[account-${index}]`, key: `account-${index}`, index, error }
}
