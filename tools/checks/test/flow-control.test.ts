import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memory } from '@belay/testing'
import { createEngine, define, type Engine, type Workflow } from '@belay/workflow'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { readPage } from '../src/docs/code-blocks.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))

type AnyWorkflow = Workflow<string, unknown, Readonly<Record<string, unknown>>>
type Act = (engine: Engine) => Promise<void>

/** What the blocks of docs/flow-control.md export, but for the first one, which only shows how it looks. */
const recipes: Record<string, unknown> = {}
const headings: string[] = []
let folder: string

beforeAll(async () => {
  const markdown = await readFile(join(root, 'docs/flow-control.md'), 'utf8')
  headings.push(...markdown.split('\n').filter((line) => line.startsWith('## ')))
  // Below this package, so that the blocks import what this test imports.
  const parent = join(root, 'tools/checks/.belay')
  await mkdir(parent, { recursive: true })
  folder = await mkdtemp(join(parent, 'flow-control-'))
  for (const [index, { code }] of readPage(markdown).blocks.entries()) {
    if (index === 0) continue
    const file = join(folder, `block-${index}.ts`)
    await writeFile(file, code)
    Object.assign(recipes, await import(file))
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))
afterEach(() => vi.unstubAllGlobals())

/** A worker on virtual time with a workflow of the page, and when each of its steps began, in milliseconds from now. */
async function work(workflow: AnyWorkflow, options: Partial<Parameters<typeof createEngine>[0]> = {}) {
  const adapter = memory()
  const { clock } = adapter
  const engine = createEngine({ adapter, workflows: [workflow], concurrency: 500, ...options })
  const since = clock.now()
  const begun: { readonly step: string; readonly runId: string; readonly atMs: number }[] = []
  engine.on('step.started', ({ step, runId }) => begun.push({ step, runId, atMs: clock.now() - since }))
  await engine.start()
  return { engine, clock, begun, close: () => clock.runUntil(engine.close()) }
}

function recipe(name: string): AnyWorkflow {
  return recipes[name] as AnyWorkflow
}

/** How many began in the fullest window of so many milliseconds. */
function fullest(begun: readonly { readonly atMs: number }[], windowMs: number): number {
  return Math.max(
    ...begun.map(
      ({ atMs: from }) => begun.filter(({ atMs }) => atMs >= from && atMs < from + windowMs).length,
    ),
  )
}

describe('the recipes on docs/flow-control.md', () => {
  test('One run per customer: a run begins once the one before it has ended', async () => {
    const { engine, clock, begun, close } = await work(recipe('sync'))
    const runs = await engine.runMany(recipe('sync'), [
      ...['acme', 'acme', 'acme', 'bell'].map((customer) => ({ input: { customer } })),
    ])
    await clock.runUntil(Promise.all(runs.map((run) => run.result())))
    await close()

    const ofAcme = begun.filter(({ runId }) => runs.slice(0, 3).some(({ id }) => id === runId))
    expect(ofAcme.map(({ step }) => step)).toEqual(Array(3).fill(['download', 'import']).flat())
    expect(begun).toHaveLength(8)
  })

  test('Skip instead of waiting: a step that is under way is skipped, and a run ends at once', async () => {
    const [refresh, syncNow] = [recipe('refresh'), recipe('syncNow')]
    const { engine, clock, begun, close } = await work(refresh, { workflows: [refresh, syncNow] })
    const customers = ['acme', 'acme', 'bell'].map((customer) => ({ input: { customer } }))
    const refreshed = await engine.runMany(refresh, customers)
    const outputs = await clock.runUntil(Promise.all(refreshed.map((run) => run.result())))
    const synced = await engine.runMany(syncNow, customers)
    const ends = await clock.runUntil(Promise.allSettled(synced.map((run) => run.result())))
    await close()

    const reports = outputs.map((output) => output['report'])
    expect(reports.sort()).toEqual(['cache of acme', 'cache of bell', 'somebody else does it'])
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.reason] : []))
    expect(refused).toEqual([{ type: 'limit_reached', limit: 'sync-now', key: 'acme' }])
    expect(begun.filter(({ step }) => step === 'sync')).toHaveLength(2)
  })

  test('Only the newest counts: the last of three runs completes, and the others are cancelled for it', async () => {
    const { engine, clock, close } = await work(recipe('preview'))
    // Its steps take no time: all of them wait, so that they meet.
    await engine.limits.set('preview', 0)
    const runs = []
    for (const text of ['one', 'two', 'three'])
      runs.push(await engine.run(recipe('preview'), { docId: 'd', text }))
    await clock.advance(1_000)
    await engine.limits.reset('preview')
    const ends = await clock.runUntil(Promise.allSettled(runs.map((run) => run.result())))
    await close()

    expect(ends[2]).toMatchObject({ status: 'fulfilled', value: { show: 'page of three' } })
    const reason = { type: 'limit_reached', limit: 'preview', key: 'd', newerRunId: expect.any(String) }
    for (const end of ends.slice(0, 2)) expect(end).toMatchObject({ status: 'rejected', reason: { reason } })
  })

  test('Refuse a start: a second import of a customer is answered with 409 while the first is under way', async () => {
    const { engine, clock, close } = await work(recipe('importNow'))
    const request = recipes['requestImport'] as (engine: Engine, customer: string) => Promise<number>

    // At one moment: the first would have ended otherwise.
    const answers = await Promise.all(['acme', 'acme', 'bell'].map((customer) => request(engine, customer)))
    await clock.advance(1_000)

    expect(answers).toEqual([202, 409, 202])
    expect(await request(engine, 'acme')).toBe(202)
    await close()
  })

  test('Drain a backlog slowly: one at a time, and back to what the code says', async () => {
    const busy = { now: 0, most: 0 }
    const charge = define('charge', { version: 1 }).step('call', {
      concurrency: { name: 'payment provider', limit: 5 },
      run: async () => {
        busy.now += 1
        busy.most = Math.max(busy.most, busy.now)
        await new Promise<void>((resolve) => clock.after(1_000, resolve))
        busy.now -= 1
      },
    }) as AnyWorkflow
    const { engine, clock, close } = await work(charge)
    const inputs = Array.from({ length: 10 }, () => ({}))

    await (recipes['slowDown'] as Act)(engine)
    const slow = await engine.runMany(charge, inputs)
    await clock.runUntil(Promise.all(slow.map((run) => run.result())))
    const whileSlow = busy.most
    await (recipes['asBefore'] as Act)(engine)
    const quick = await engine.runMany(charge, inputs)
    await clock.runUntil(Promise.all(quick.map((run) => run.result())))
    await close()

    expect([whileSlow, busy.most]).toEqual([1, 5])
  })

  test('A hundred a second to a partner: each partner gets as many, and no more', async () => {
    const { engine, clock, begun, close } = await work(recipe('notify'))
    const runs = await engine.runMany(recipe('notify'), [
      ...Array.from({ length: 250 }, () => ({ input: { partner: 'busy' } })),
      { input: { partner: 'quiet' } },
    ])
    await clock.runUntil(Promise.all(runs.map((run) => run.result())))
    await close()

    const ofBusy = begun.filter(({ runId }) => runId !== runs.at(-1)!.id)
    expect(ofBusy).toHaveLength(250)
    expect(fullest(ofBusy, 1_000)).toBeLessThanOrEqual(111)
    expect(ofBusy.at(-1)!.atMs).toBeGreaterThan(2_000)
    expect(ofBusy.at(-1)!.atMs).toBeLessThan(4_000)
    expect(begun.find(({ runId }) => runId === runs.at(-1)!.id)!.atMs).toBeLessThan(500)
  })

  test('A 429 pushes back: nobody calls before the time that the partner names', async () => {
    const answers = [{ status: 429, retryAfterSeconds: 30 }]
    vi.stubGlobal('partner', async () => answers.shift() ?? { status: 200, retryAfterSeconds: 0 })
    const { engine, clock, begun, close } = await work(recipe('report'))
    const first = await engine.run(recipe('report'), undefined)
    await clock.advance('1s')
    const second = await engine.run(recipe('report'), undefined)
    const outputs = await clock.runUntil(Promise.all([first.result(), second.result()]))
    await close()

    expect(outputs).toEqual([{ send: 200 }, { send: 200 }])
    expect(begun).toHaveLength(3)
    expect(begun[1]!.atMs).toBeGreaterThanOrEqual(30_000)
  })

  test('Drain a backlog with a rate: ten a second instead of a hundred, or none', async () => {
    vi.stubGlobal('partner', async () => ({ status: 200, retryAfterSeconds: 0 }))
    const { engine, clock, begun, close } = await work(recipe('report'))
    await (recipes['pause'] as Act)(engine)
    const runs = await engine.runMany(
      recipe('report'),
      Array.from({ length: 30 }, () => ({})),
    )
    await clock.advance('1m')
    const whilePaused = begun.length
    await (recipes['drainSlowly'] as Act)(engine)
    await clock.runUntil(Promise.all(runs.map((run) => run.result())))
    await close()

    expect([whilePaused, begun.length]).toEqual([0, 30])
    expect(fullest(begun, 1_000)).toBeLessThanOrEqual(12)
  })

  test('Debounce edits: the last text is indexed once, five seconds after it', async () => {
    const indexed: string[] = []
    vi.stubGlobal('search', { index: async (docId: string, text: string) => void indexed.push(docId + text) })
    const { engine, clock, begun, close } = await work(recipe('indexDocument'))
    for (const text of ['B', 'Be', 'Bel']) {
      await engine.run(recipe('indexDocument'), { docId: '7', text })
      await clock.advance('2s')
    }
    const before = [...indexed]
    await clock.advance('4s')
    await close()

    expect([before, indexed]).toEqual([[], ['7Bel']])
    expect(begun[0]!.atMs).toBeGreaterThanOrEqual(9_000)
  })

  test('A nightly report: each night has one run, also when the clocks change', async () => {
    const made: string[] = []
    vi.stubGlobal('reports', { make: async (day: string) => void made.push(day) })
    const schedules = recipes['schedules'] as never
    const { clock, close } = await work(recipe('nightly'), { schedules })
    await clock.advance('400d')
    await close()

    const hours = made.map((at) =>
      new Date(at).toLocaleString('en-GB', { timeZone: 'Europe/Zurich', timeStyle: 'short' }),
    )
    expect(new Set(hours)).toEqual(new Set(['03:00']))
    expect(new Set(made.map((at) => at.slice(11))).size).toBe(2)
    expect(new Set(made).size).toBe(made.length)
    expect(Math.abs(made.length - 400)).toBeLessThanOrEqual(1)
  })

  test('there is no other recipe', () => {
    expect(headings.map((heading) => heading.slice(3))).toEqual([
      'One run per customer',
      'Skip instead of waiting',
      'Only the newest counts',
      'Refuse a start',
      'Drain a backlog slowly',
      'A hundred a second to a partner',
      'A 429 pushes back',
      'Drain a backlog with a rate',
      'Debounce edits',
      'A nightly report',
      'What waits, and why',
      'What it costs',
      'What limits do not hold today',
      'Guarantees',
    ])
  })
})
