import type { Names } from '../api/names.ts'
import { notAllowed } from '../problem.ts'
import { type App, queryOf, type Served } from '../served.ts'

const WORKFLOWS_MAX = 100
const STEPS_MAX = 200
/** Versions do not change, and new ones are rare. */
const FRESH_MS = 30_000

export function routeNames(app: App, served: Served): void {
  app
    .get('/api/names', async (call) => {
      queryOf(call, [])
      return Response.json(await served.read(call, 'names', () => namesOf(served), FRESH_MS))
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

async function namesOf(served: Served): Promise<Names> {
  const stored = await served.engine.workflows.list()
  const workflows = stored.slice(0, WORKFLOWS_MAX).map(async ({ name, versions: [newest] }) => {
    const steps = newest === undefined ? [] : await served.graph(name, newest.version)
    return { name, steps: steps.slice(0, STEPS_MAX).map((step) => step.name) }
  })
  return { workflows: await Promise.all(workflows) }
}
