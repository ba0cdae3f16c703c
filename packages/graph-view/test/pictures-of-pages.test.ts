import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PermanentError } from '@belay/workflow'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Drawing, drawGraph, drawTimeline, fileStyle, type Graph, shape, svgText } from '../src/index.ts'
import { definitionOn, ended, played } from './pictures-page.ts'

const docs = (path: string) => fileURLToPath(new URL(`../../../docs/${path}`, import.meta.url))

/** The picture is what `docs/images` has, and the page shows it: its label is the text for who does not see it. Written by `npx vitest run <this file> --update=all`. */
async function isOn(page: string, name: string, drawing: Drawing): Promise<void> {
  const label = new RegExp(`!\\[([^\\]]+)\\]\\(images/${name}\\.svg\\)`).exec(
    await readFile(docs(page), 'utf8'),
  )?.[1]
  expect(label, `docs/${page} shows images/${name}.svg`).toBeDefined()
  const svg = svgText(drawing, { style: fileStyle, label: label! })
  await expect(svg).toMatchFileSnapshot(docs(`images/${name}.svg`))
}

const fails = (message: string) => () => Promise.reject(new PermanentError(message))

/** A graph, and beneath one of its steps that of the run which the step started. */
function withChild(parent: Graph, step: string, child: Graph): Drawing {
  const { x, y, width, height } = parent.nodes.find((node) => node.step === step)!
  const [first] = child.nodes
  const [dx, dy] = [x - first!.x, parent.height]
  const from = x + width / 2
  const down = shape('path', { class: 'edge', d: `M${from} ${y + height}V${dy + first!.y}` })
  return {
    width: Math.max(parent.width, dx + child.width),
    height: dy + child.height,
    shapes: [
      ...parent.shapes,
      shape('g', { class: 'belay' }, down),
      shape('g', { transform: `translate(${dx} ${dy})` }, ...child.shapes),
    ],
  }
}

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

describe('the picture of a page is drawn from a run of the definition on that page', () => {
  it('sagas: a transfer that fails before its pivot has completed', async () => {
    const transfer = await definitionOn('sagas.md', 'transfer', {
      bank: { reserve: async () => 'reservation 7', release: async () => {}, send: fails('account closed') },
      mail: { send: async () => {} },
    })
    await isOn('sagas.md', 'saga-undone', drawTimeline(await played(transfer, { sum: 90 }), { width: 900 }))
  })

  it('maps: an album whose publication fails', async () => {
    const album = await definitionOn('maps.md', 'album', {
      store: { resize: async () => 'a photo', remove: async () => {}, publish: fails('quota exceeded') },
    })
    const photos = Array.from({ length: 48 }, (_, index) => ({ id: `p${index}` }))
    const takesMs = (step: string) => 300 + ((Number(/\d+/.exec(step) ?? 0) * 137) % 600)
    const undone = await played(album, { photos }, { takesMs })
    await isOn('maps.md', 'map-undone', drawTimeline(undone, { width: 900 }))
  })

  it('branches: the way of an order that is paid by card', async () => {
    const order = await definitionOn('branches.md', 'order', {
      shop: { load: async () => ({ total: 80 }), charge: async () => ({ id: 'charge 9' }) },
      desk: { ship: async () => {} },
    })
    await isOn('branches.md', 'branch-taken', drawGraph(await played(order, { id: 'o1', card: true })))
  })

  it('loops: an import that is cancelled after its fourth page', async () => {
    let pages = 0
    const fetchPage = async () => {
      pages += 1
      return { cursor: pages < 4 ? `page ${pages + 1}` : null, ids: ['a', 'b'] }
    }
    const importing = await definitionOn('loops.md', 'importing', {
      store: { fetchPage, remove: async () => {} },
    })
    const undone = await played(
      importing,
      { shop: 'example' },
      {
        async until({ run, clock }) {
          await clock.runUntil(run.step('fetch'))
          await clock.advance('700ms')
          await run.cancel({ by: 'ann', reason: 'the wrong shop' })
          await ended({ clock, run })
        },
        takesMs: (step) => (step === 'report' ? 900 : 400),
      },
    )
    await isOn('loops.md', 'loop-undone', drawTimeline(undone, { width: 900 }))
  })

  it('children: an order that waits for its child, and the child beneath it', async () => {
    const order = await definitionOn('children.md', 'order')
    let child: Graph | undefined
    const parent = await played(
      order,
      { id: '7', sum: 120 },
      {
        async until({ engine, run, clock, view }) {
          await clock.advance('3s')
          const [shipping] = await engine.runs.list({ parentId: run.id })
          child = drawGraph(await view(shipping!.id))
        },
      },
    )
    await isOn('children.md', 'child-waiting', withChild(drawGraph(parent), 'ship', child!))
  })
})
