import type { RunSnapshot, StepSnapshot } from '@belay/workflow'
import type { ItemStatesPage, ItemsPage } from '../api.ts'
import { badRequest, notAllowed, notFound } from '../problem.ts'
import { onlyOne, wholeNumber } from '../query.ts'
import { type App, type Call, idIn, queryOf, type Served } from '../served.ts'
import { isFailing } from '../view/item-errors.ts'
import { viewItem } from '../view/view-step.ts'
import { isItem, mapOf } from '../view-run.ts'

const PAGE = 50
/** Items that are read at a time on the way through a map: the engine reads their outputs too, so not too many, and each read counts all items, so not too few. */
export const PASSED = 5_000

/** The items of a map, by their index. */
export function routeItems(app: App, served: Served): void {
  app
    .get('/api/runs/:id/items/states', async (call) => {
      const id = idIn(call)
      const map = mapIn(queryOf(call, ['map']).map)
      const page = await served.read(call, `states ${id} ${map}`, () => statesOf(served, id, map))
      return Response.json(page)
    })
    .all(onlyGet)
  app
    .get('/api/runs/:id/items', async (call) => {
      const asked = askedIn(call)
      const { id, map, after, failing } = asked
      const page = await served.read(call, `items ${id} ${after} ${failing} ${map}`, async (texts) => {
        const found = failing ? await failingItems(served, asked) : await itemsAfter(served, asked)
        const graph = await served.graph(found.run.workflow, found.run.version)
        const written = graph.find(({ name }) => name === map)
        const items = found.items.map(({ item, index }) => ({
          ...viewItem(item, written, texts),
          ...{ key: item.itemKey!, index },
        }))
        return { items, more: found.more } satisfies ItemsPage
      })
      return Response.json(page)
    })
    .all(onlyGet)
}

function onlyGet(): never {
  throw notAllowed('GET')
}

interface Asked {
  readonly id: string
  readonly map: string
  readonly after: number | undefined
  readonly failing: boolean
}

function askedIn(call: Call): Asked {
  const query = queryOf(call, ['map', 'after', 'failing'])
  const failing = onlyOne('failing', query.failing) ?? 'false'
  if (failing !== 'true' && failing !== 'false') throw badRequest('failing is true or false.')
  const after = wholeNumber('after', onlyOne('after', query.after))
  return { id: idIn(call), map: mapIn(query.map), after, failing: failing === 'true' }
}

export function mapIn(values: readonly string[] | undefined): string {
  const map = onlyOne('map', values)
  if (map === undefined || map === '') throw badRequest('Give the name of a map, as map.')
  return map
}

interface Found {
  readonly run: RunSnapshot
  readonly items: readonly { readonly item: StepSnapshot; readonly index: number }[]
  readonly more: boolean
}

export async function itemsAfter(
  { engine }: Served,
  { id, map, after }: Asked,
  limit = PAGE,
): Promise<Found> {
  const run = await engine.runs.get(id, { items: { of: map, after, limit } })
  if (run === undefined) throw notFound('No run has this id.')
  const first = after === undefined ? 0 : after + 1
  const items = run.steps
    .filter((step) => isItem(step) && mapOf(step) === map)
    .map((item, place) => ({ item, index: first + place }))
  return { run, items, more: items.length > 0 && first + items.length < (run.maps[map]?.items ?? 0) }
}

/** The engine lists items by their index only, so this passes through those before. */
async function failingItems(served: Served, asked: Asked): Promise<Found> {
  const items: Found['items'][number][] = []
  for (let after = asked.after; ; ) {
    const part = await itemsAfter(served, { ...asked, after }, PASSED)
    items.push(...part.items.filter(({ item }) => isFailing(item)))
    if (items.length > PAGE || !part.more)
      return { run: part.run, items: items.slice(0, PAGE), more: items.length > PAGE }
    after = part.items.at(-1)!.index
  }
}

async function statesOf(served: Served, id: string, map: string): Promise<ItemStatesPage> {
  const states: [StepSnapshot['status'], number][] = []
  for (let after: number | undefined; ; ) {
    const part = await itemsAfter(served, { id, map, after, failing: false }, PASSED)
    for (const { item } of part.items) {
      const last = states.at(-1)
      if (last?.[0] === item.status) last[1] += 1
      else states.push([item.status, 1])
    }
    if (!part.more) return { states }
    after = part.items.at(-1)!.index
  }
}
