import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memory } from '@belay/testing'
import { createEngine, type Engine, PermanentError, type RunHandle, type Workflow } from '@belay/workflow'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { readPage } from '../src/docs/code-blocks.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))

type Exports = Readonly<Record<string, unknown>>
type AnyWorkflow = Workflow<string, unknown, Readonly<Record<string, unknown>>>

/** The modules of docs/patterns.md, by the heading above their first block. */
const patterns = new Map<string, Exports>()
const ran = new Set<string>()
let folder: string

beforeAll(async () => {
  const markdown = await readFile(join(root, 'docs/patterns.md'), 'utf8')
  // Below this package, so that the blocks import what this test imports.
  const parent = join(root, 'tools/checks/.belay')
  await mkdir(parent, { recursive: true })
  folder = await mkdtemp(join(parent, 'patterns-'))
  for (const [index, { code, line }] of readPage(markdown).blocks.entries()) {
    const file = join(folder, `block-${index}.ts`)
    await writeFile(file, code)
    patterns.set(headingAbove(markdown, line + code.split('\n').length), await import(file))
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))
afterEach(() => vi.unstubAllGlobals())

function headingAbove(markdown: string, line: number): string {
  const headings = markdown
    .split('\n')
    .slice(0, line)
    .filter((text) => text.startsWith('## '))
  return headings.at(-1)!.slice(3)
}

/** Runs the workflow of a pattern on a virtual clock. The names that the page declares are stubbed with `world`. */
async function perform(
  { heading, world }: { readonly heading: string; readonly world: Readonly<Record<string, unknown>> },
  input: unknown,
  meanwhile: (play: Play) => Promise<unknown> = async () => {},
) {
  for (const [name, value] of Object.entries(world)) vi.stubGlobal(name, value)
  ran.add(heading)
  const exports = patterns.get(heading)!
  const workflow = Object.values(exports).find((value) => typeof value === 'object') as AnyWorkflow
  const adapter = memory()
  const engine = createEngine({ adapter, workflows: [workflow], tick: '10s', lease: '5m' })
  await engine.start()
  const run = await engine.run(workflow, input)
  await meanwhile({ engine, run, exports, advance: (time) => adapter.clock.advance(time) })
  await adapter.clock.runUntil(run.result().catch(() => {}))
  // What follows the end of a run follows at the next ticks.
  await adapter.clock.advance('1m')
  const { status, steps } = await run.status()
  await adapter.clock.runUntil(engine.close())
  return { status, outputs: Object.fromEntries(steps.map(({ name, output }) => [name, output])) }
}

interface Play {
  readonly engine: Engine
  readonly run: RunHandle<unknown>
  readonly exports: Exports
  advance(time: '3h' | '1d'): Promise<void>
}

/** A shop that writes down what it did. */
function openShop({ declines = false } = {}) {
  const did: string[] = []
  const doing = (what: string, id: string) => {
    did.push(what)
    return { id }
  }
  return {
    did,
    shop: {
      reserve: async (item: string) => doing(`reserve ${item}`, item),
      release: async (id: string) => void did.push(`release ${id}`),
      charge: async (cents: number) => {
        if (declines) throw new PermanentError('declined')
        return doing(`charge ${cents}`, 'c1')
      },
      refund: async (id: string) => void did.push(`refund ${id}`),
      invoice: async (cents: number) => doing(`invoice ${cents}`, 'i1'),
      ship: async (paid: string) => void did.push(`ship ${paid}`),
    },
    mail: { send: async (to: string, text: string) => void did.push(`mail to ${to}: ${text}`) },
  }
}

describe('the patterns on docs/patterns.md', () => {
  test.each([
    [true, ['charge 500', 'ship c1']],
    [false, ['invoice 500', 'ship i1']],
  ])('Branch: with card %s', async (card, expected) => {
    const { did, ...world } = openShop()
    const { status } = await perform({ heading: 'Branch', world }, { cents: 500, card })
    expect([status, did]).toEqual(['completed', expected])
  })

  test('Fan-out and fan-in: all results come together, in order', async () => {
    const bucket = {
      list: async () => ['a.jpg', 'bc.jpg'],
      thumbnail: async (name: string) => ({ name, bytes: name.length }),
    }
    const { outputs } = await perform(
      { heading: 'Fan-out and fan-in', world: { bucket } },
      { folder: 'summer' },
    )
    expect(outputs).toMatchObject({
      thumbnail: [
        { name: 'a.jpg', bytes: 5 },
        { name: 'bc.jpg', bytes: 6 },
      ],
      summarise: 11,
    })
  })

  test.each([
    [false, ['charge 500', 'ship c1']],
    [true, ['invoice 500', 'ship i1']],
  ])('Fallback: with a card that is declined %s', async (declines, expected) => {
    const { did, ...world } = openShop({ declines })
    const { status } = await perform({ heading: 'Fallback', world }, { cents: 500 })
    expect([status, did]).toEqual(['completed', expected])
  })

  test('Poll: the parcel is asked for each hour until it was delivered', async () => {
    const { did, shop, mail } = openShop()
    let checks = 0
    const parcelStatus = async () => {
      checks += 1
      return checks < 4 ? { state: 'on its way' } : { state: 'delivered', at: 'noon' }
    }
    const world = { shop: { ...shop, parcelStatus }, mail }
    const { status } = await perform({ heading: 'Poll', world }, { parcel: 'p1', to: 'ada' }, ({ advance }) =>
      advance('3h'),
    )
    expect([status, checks, did]).toEqual(['completed', 4, ['mail to ada: delivered at noon']])
  })

  test.each([
    [false, 'completed', ['charge 900']],
    [true, 'compensated', ['release page 3', 'release page 2', 'release page 1']],
  ])('Loop with a limit: with a card that is declined %s', async (declines, end, expected) => {
    const { did, shop, mail } = openShop({ declines })
    const pageAfter = async (page: number) => (page < 3 ? page + 1 : null)
    const world = { shop: { ...shop, pageAfter }, mail }
    const { status } = await perform({ heading: 'Loop with a limit', world }, { cents: 900 })
    expect([status, did]).toEqual([end, ['reserve page 1', 'reserve page 2', 'reserve page 3', ...expected]])
  })

  test.each([
    [true, 'completed', ['charge 800']],
    [false, 'compensated', ['mail to ada: only 700']],
  ])('Offer and answer: with a second offer that is accepted %s', async (yes, end, expected) => {
    const { did, ...world } = openShop()
    const { status } = await perform(
      { heading: 'Offer and answer', world },
      { to: 'ada', cents: 900 },
      async ({ engine, run, exports, advance }) => {
        for (const answer of [false, yes, false]) {
          await advance('3h')
          const isOver = (await run.status()).status === 'completed'
          if (!isOver)
            await (exports['reply'] as (...of: unknown[]) => Promise<unknown>)(engine, run.id, answer)
        }
      },
    )
    expect([status, did]).toEqual([end, ['mail to ada: only 900', 'mail to ada: only 800', ...expected]])
  })

  test.each([
    [true, ['ask manager', 'buy rope']],
    [false, ['ask manager', expect.stringMatching(/^mail to ada: .*too dear/)]],
  ])('Decision: a manager who says %s, a day later', async (yes, expected) => {
    const { did, mail } = openShop()
    const desk = {
      ask: async (who: string) => void did.push(`ask ${who}`),
      buy: async (what: string) => void did.push(`buy ${what}`),
    }
    const { status } = await perform(
      { heading: 'Decision', world: { desk, mail } },
      { what: 'rope', by: 'ada' },
      async ({ engine, run, exports, advance }) => {
        await advance('1d')
        await (exports['answer'] as (...of: unknown[]) => Promise<unknown>)(engine, run.id, yes)
      },
    )
    expect([status, did]).toEqual(['completed', expected])
  })

  test.each([
    [false, 'completed', ['reserve hotel', 'reserve flight', 'charge 900']],
    [true, 'compensated', ['reserve hotel', 'reserve flight', 'release flight', 'release hotel']],
  ])('Saga: with a card that is declined %s', async (declines, end, expected) => {
    const { did, ...world } = openShop({ declines })
    const { status } = await perform({ heading: 'Saga', world }, { cents: 900 })
    expect([status, did]).toEqual([end, expected])
  })

  test.each([
    [false, 'completed', ['charge 900']],
    [true, 'compensated', ['release rope', 'release lorry']],
  ])('Child: with a card that is declined %s', async (declines, end, expected) => {
    const { did, ...world } = openShop({ declines })
    const { status } = await perform({ heading: 'Child', world }, { item: 'rope', cents: 900 })
    expect([status, did]).toEqual([end, ['reserve lorry', 'reserve rope', 'ship rope', ...expected]])
  })

  test('Point of no return: before it everything is undone', async () => {
    const { did, ...world } = openShop({ declines: true })
    const { status } = await perform({ heading: 'Point of no return', world }, { item: 'rope', cents: 900 })
    expect([status, did]).toEqual(['compensated', ['reserve rope', 'release rope']])
  })

  test('Point of no return: after it the run waits for an operator, and nothing is undone', async () => {
    const { did, shop } = openShop()
    let isOpen = false
    const ship = async (paid: string) => {
      if (!isOpen) throw new PermanentError('no lorry')
      return shop.ship(paid)
    }
    const world = { shop: { ...shop, ship } }
    let parked: string | undefined
    const { status } = await perform(
      { heading: 'Point of no return', world },
      { item: 'rope', cents: 900 },
      async ({ engine, run, advance }) => {
        await advance('3h')
        parked = (await run.status()).status
        isOpen = true
        await engine.retryStep(run.id, 'ship')
      },
    )
    expect([parked, status, did]).toEqual(['parked', 'completed', ['reserve rope', 'charge 900', 'ship c1']])
  })

  test('Mail after the undo: the mail comes last, and names what was undone', async () => {
    const { did, ...world } = openShop({ declines: true })
    await perform({ heading: 'Mail after the undo', world }, { to: 'ada', cents: 900 })
    expect(did).toEqual(['reserve seat', 'release seat', 'mail to ada: Your booking failed. Undone: seat.'])
  })

  test('Progress bar: a watcher sees the map and the step advance to their ends', async () => {
    const bucket = { thumbnail: async (name: string) => ({ name, bytes: 1 }) }
    const drawn: string[] = []
    let shown: Promise<unknown> | undefined
    await perform(
      { heading: 'Progress bar', world: { bucket } },
      { pages: ['a', 'b', 'c'] },
      async ({ run, exports }) => {
        shown = (exports['showProgress'] as (...of: unknown[]) => Promise<unknown>)(run, (line: string) =>
          drawn.push(line),
        )
      },
    )
    await shown
    expect(drawn).toContain('render: 3 of 3')
    expect(drawn.at(-1)).toBe('upload: 3 of 3')
  })

  test.each([
    [false, 'completed', []],
    [true, 'compensated', ['0-1000', '1000-2000', '2000-2500']],
  ])('Import: with all or nothing %s', async (allOrNothing, end, expected) => {
    const unloaded: string[] = []
    const bucket = {
      countLines: async () => 2_500,
      load: async (_file: string, { from, to }: { from: number; to: number }) => {
        if (from === 1_000) throw new PermanentError('cannot be read')
        return { loaded: to - from, bad: from === 0 ? [17] : [] }
      },
      unload: async (_file: string, { from, to }: { from: number; to: number }) =>
        void unloaded.push(`${from}-${to}`),
    }
    const { status, outputs } = await perform(
      { heading: 'Import', world: { bucket } },
      { file: 'cities.csv', allOrNothing },
    )
    expect([status, unloaded.sort()]).toEqual([end, expected])
    if (!allOrNothing) expect(outputs['accept']).toEqual({ bad: [17], failed: 1 })
  })

  test('are all run', () => {
    expect([...ran].sort()).toEqual([...patterns.keys()].sort())
  })
})
