import { actOnItems, foreseeItems, itemsRequestIn } from '../actions/items.ts'
import type { ItemErrors, ItemsResult } from '../api/maps.ts'
import { CAPABILITY_OF } from '../capabilities.ts'
import { notAllowed, notFound } from '../problem.ts'
import { bodyOfWrite } from '../security.ts'
import { type App, assertMay, type Call, idIn, queryOf, type Served } from '../served.ts'
import { groupErrors, type IndexedItem, isFailing, offersIn, type SharedGroup } from '../view/item-errors.ts'
import type { Texts } from '../view/texts.ts'
import { itemsAfter, mapIn, PASSED } from './items.ts'

const FAILING_MAX = 1_000
/** Items whose offers are asked for: as many as may be in the groups. */
const EXPLAINED = { itemsMax: FAILING_MAX }
const FRESH_MS = 3_000

/** Why items of a map fail, and what is done about many of them. */
export function routeMaps(app: App, served: Served): void {
  app
    .get('/api/runs/:id/items/errors', async (call) => {
      const id = idIn(call)
      const map = mapIn(queryOf(call, ['map']).map)
      const read = (texts: Texts) => errorsOf(served, { id, map, texts })
      const page = await served.read(call, `item errors ${id} ${map}`, read, FRESH_MS)
      return Response.json({ ...page, groups: page.groups.map((group) => forViewer(group, call)) })
    })
    .all(() => {
      throw notAllowed('GET')
    })
  app
    .post('/api/runs/:id/items/actions', async (call) => {
      queryOf(call, [])
      const asked = itemsRequestIn(await bodyOfWrite(call.req.raw))
      assertMay(call, CAPABILITY_OF[asked.verb])
      return Response.json(await resultOf(served, idIn(call), asked, call.env.by))
    })
    .all(() => {
      throw notAllowed('POST')
    })
}

async function resultOf(
  { engine, shared }: Served,
  id: string,
  asked: ReturnType<typeof itemsRequestIn>,
  by: string,
): Promise<ItemsResult> {
  const [run] = await engine.runs.list({ idPrefix: id, limit: 1 })
  if (run === undefined) throw notFound('No run has this id.')
  if (asked.dryRun) return { results: await foreseeItems(engine, id, asked) }
  try {
    return { results: await actOnItems(engine, id, asked, { by, reason: asked.reason }) }
  } finally {
    shared.clear()
  }
}

function forViewer({ verbs, ...group }: SharedGroup, { env }: Call): ItemErrors['groups'][number] {
  return { ...group, actions: verbs.map((verb) => ({ verb, denied: !env.can.has(CAPABILITY_OF[verb]) })) }
}

async function errorsOf(
  served: Served,
  { id, map, texts }: { readonly id: string; readonly map: string; readonly texts: Texts },
): Promise<Omit<ItemErrors, 'groups'> & { readonly groups: readonly SharedGroup[] }> {
  const [{ readAt, items, more }, explanation] = await Promise.all([
    firstFailing(served, id, map),
    served.engine.explain(id, EXPLAINED),
  ])
  const groups = groupErrors(items, { texts, offers: offersIn(explanation) })
  return { readAt, groups, read: items.length, more }
}

async function firstFailing(served: Served, id: string, map: string) {
  const items: IndexedItem[] = []
  for (let after: number | undefined; ; ) {
    const part = await itemsAfter(served, { id, map, after, failing: false }, PASSED)
    items.push(...part.items.filter(({ item }) => isFailing(item)))
    if (items.length >= FAILING_MAX || !part.more) {
      const more = part.more || items.length > FAILING_MAX
      return { readAt: part.run.readAt.getTime(), items: items.slice(0, FAILING_MAX), more }
    }
    after = part.items.at(-1)!.index
  }
}
