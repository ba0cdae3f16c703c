import type { RunSnapshot } from '@belay/workflow'
import picocolors from 'picocolors'
import { describe, expect, test } from 'vitest'
import { widthOf } from '../src/terminal/fitting.ts'
import type { RunView, StepState } from '../src/terminal/run-view.ts'
import { newsBetween } from '../src/tour/news.ts'
import { readOpeningPage } from '../src/tour/opening-page.ts'
import { type OrderPage, orderPageLines } from '../src/tour/order-page.ts'
import type { Sight, WorkerSight } from '../src/tour/sight.ts'

const COLUMNS = [20, 39, 59, 79, 119, 199]
const ROWS = [10, 16, 24, 45, 60]
const SIZES = COLUMNS.flatMap((columns) => ROWS.map((rows) => ({ columns, rows })))

const colours = picocolors.createColors(false)
const look = { colours, frame: 3, leaseMs: 3_000 }
const FOOTER = 'k kill -9 worker A (by itself in 3 s)   q quit'

describe('a page about an order', () => {
  test.each(SIZES)('fits on $columns columns and $rows rows, and keeps its footer', (size) => {
    for (const page of [running(), ended()]) {
      const lines = orderPageLines(page, look, size)
      expect(lines.length).toBeLessThanOrEqual(size.rows)
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(size.columns)
      expect(lines.join(' ').replace(/ +/g, ' ')).toContain('q quit')
    }
  })

  test.each([
    { columns: 59, rows: 24 },
    { columns: 79, rows: 24 },
  ])('shows on $columns columns and $rows rows all steps, who holds what, and every check', (size) => {
    const during = orderPageLines(running(), look, size).join('\n')
    expect(during).toMatch(/✘ worker A .*killed, holds chargeCard; lease ends in 1\.5 s/)
    expect(during).toMatch(/● worker B .*holds nothing/)
    expect(during).not.toContain('…ge')
    const after = orderPageLines(ended(), look, size).join('\n')
    for (const name of STEPS) expect(after).toContain(` ${name} `)
    for (let check = 1; check <= 6; check += 1) expect(after).toContain(`✔ check ${check}`)
  })

  test('fills a large terminal with what has happened, also at the end', () => {
    const large = orderPageLines(ended(), look, { columns: 119, rows: 45 }).join('\n')
    expect(large).toContain('› checkFraud: started by worker A')
    const small = orderPageLines(ended(), look, { columns: 79, rows: 24 }).join('\n')
    expect(small).not.toContain('› checkFraud: started by worker A')
  })

  test('a page in colours is as wide as one without', () => {
    const size = { columns: 79, rows: 24 }
    const coloured = { ...look, colours: picocolors.createColors(true) }
    const widths = (given: typeof look) => orderPageLines(running(), given, size).map(widthOf)
    expect(widths(coloured)).toEqual(widths(look))
  })
})

describe('the opening page', () => {
  test.each(SIZES)('fits on $columns columns and $rows rows, and keeps its footer', async (size) => {
    const page = await readOpeningPage(colours)
    const lines = page(['Two processes work for it.', '', 'q quit'], size)
    expect(lines.length).toBeLessThanOrEqual(size.rows)
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(size.columns)
    expect(lines.at(-1)).toBe('q quit')
  })
})

describe('news', () => {
  test('that came between two looks are told in the order in which they happened', () => {
    const before = sight('running', { issueInvoice: 'done', updateAnalytics: 'done', sendMail: 'running' })
    const after = sight('compensated', {
      issueInvoice: ['undone', 30],
      updateAnalytics: ['undone', 20],
      sendMail: ['failed', 10],
    })
    expect(newsBetween(before, after)).toEqual([
      'sendMail: failed for good after attempt 1 (no mail server answers)',
      'what was done is now undone, backwards',
      'updateAnalytics: undone by worker A in 5 ms',
      'issueInvoice: undone by worker A in 5 ms',
      'run compensated',
    ])
  })

  test('of a takeover say whose lease is over, and who took over', () => {
    const held = sight('running', { chargeCard: 'orphaned' }, [
      worker('A', true, ['chargeCard']),
      worker('B'),
    ])
    const free = sight('running', { chargeCard: 'waiting' }, [worker('A', true), worker('B')])
    const taken = sight('running', { chargeCard: 'running' }, [
      worker('A', true),
      worker('B', false, ['chargeCard']),
    ])
    expect(newsBetween(held, free)).toEqual(['the lease of worker A is over: chargeCard may be taken over'])
    expect(newsBetween(free, taken)).toEqual(['chargeCard: started by worker A'])
    expect(newsBetween(taken, taken)).toEqual([])
  })
})

const STEPS = ['reserveStock', 'checkFraud', 'chargeCard', 'issueInvoice', 'sendMail', 'updateAnalytics']

function running(): OrderPage {
  const workers = [worker('A', true, ['chargeCard']), worker('B')]
  const kill =
    'kill -9 31245: worker A is dead and holds chargeCard. Its lease, 3 s here and 30 s by default, ends in 2.1 s'
  return {
    title: 'Order 1 of 2: a worker is killed while it charges a card',
    sight: sight('running', graph('done'), workers),
    undone: undefined,
    news: ['checkFraud: started by worker A', kill, kill, kill],
    checks: [],
    footer: FOOTER,
  }
}

function ended(): OrderPage {
  return {
    ...running(),
    sight: sight('compensated', { ...graph('undone'), sendMail: 'failed' }),
    undone: ['updateAnalytics', 'issueInvoice', 'chargeCard', 'reserveStock'],
    checks: [1, 2, 3, 4, 5, 6].map((number) => `  ✔ check ${number}: as it was promised to the readers`),
  }
}

function graph(state: StepState): Record<string, StepState> {
  return Object.fromEntries(STEPS.map((name) => [name, state]))
}

function sight(
  status: RunView['status'],
  states: Record<string, StepState | readonly [StepState, number]>,
  workers: readonly WorkerSight[] = [worker('A'), worker('B')],
): Sight {
  const steps = Object.entries(states).map(([name, told], index) => {
    const [state, endedAt] = typeof told === 'string' ? [told, 0] : told
    const dependsOn = index === 0 ? [] : [Object.keys(states)[index - 1]!]
    const error = state === 'failed' ? 'no mail server answers' : undefined
    return { name, dependsOn, state, attempt: 1, durationMs: 5, error, worker: 'worker A', endedAt }
  })
  // Of the snapshot, these functions read only when steps ended.
  const run = {
    steps: steps.map(({ endedAt }) => ({ finishedAt: new Date(endedAt) })),
  } as unknown as RunSnapshot
  const requests = [1, 2].map(() => ({
    charge_id: 'run:chargeCard',
    asked_by: 'worker A',
    moved_cents: 29_220,
  }))
  return { run, view: { status, steps }, workers, requests }
}

function worker(letter: string, isKilled = false, holds: readonly string[] = []): WorkerSight {
  return { name: `worker ${letter}`, pid: 31_245, isKilled, holds, leaseMs: 1_500 }
}
