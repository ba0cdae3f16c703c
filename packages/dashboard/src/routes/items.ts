import type { ItemsPage } from '../api.ts'
import { badRequest, notAllowed, notFound } from '../problem.ts'
import { type App, idIn, onlyOne, queryOf, type Served, wholeNumber } from '../served.ts'
import { viewItem } from '../view/view-step.ts'
import { isItem, mapOf } from '../view-run.ts'

const PAGE = 200

/** The items of a map, by their index. */
export function routeItems(app: App, served: Served): void {
  app
    .get('/api/runs/:id/items', async (call) => {
      const id = idIn(call)
      const query = queryOf(call, ['map', 'after'])
      const map = onlyOne('map', query.map)
      if (map === undefined || map === '') throw badRequest('Give the name of a map, as map.')
      const after = wholeNumber('after', onlyOne('after', query.after))
      const page = await served.read(
        call,
        `items ${id} ${after} ${map}`,
        async (texts): Promise<ItemsPage> => {
          const run = await served.engine.runs.get(id, { items: { of: map, after, limit: PAGE } })
          if (run === undefined) throw notFound('No run has this id.')
          const graph = await served.graph(run.workflow, run.version)
          const written = graph.find(({ name }) => name === map)
          const first = after === undefined ? 0 : after + 1
          const items = run.steps
            .filter((step) => isItem(step) && mapOf(step) === map)
            .map((item, place) => ({
              ...viewItem(item, written, texts),
              ...{ key: item.itemKey!, index: first + place },
            }))
          return { items, more: first + items.length < (run.maps[map]?.items ?? 0) }
        },
      )
      return Response.json(page)
    })
    .all(() => {
      throw notAllowed('GET')
    })
}
