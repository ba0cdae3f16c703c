import type { RunsFilter, RunWithSteps, WorkerSnapshot } from '@belay/workflow'
import type { ListedRun, RunCounts, RunsPage } from '../api.ts'
import { badRequest, notAllowed } from '../problem.ts'
import { onlyOne, wholeNumber } from '../query.ts'
import { given, MATCHING, matching } from '../runs-query.ts'
import { type App, type Call, queryOf, type Served } from '../served.ts'
import { listedSteps } from '../view/listed-steps.ts'
import type { Texts } from '../view/texts.ts'
import { hasEnded, whyEnded, whyListed } from '../view/why.ts'
import { workersOf } from './overview.ts'

const PAGE_DEFAULT = 50
/** Each status is counted to its cap, which costs as much as ten pages of runs. */
const COUNTS_FRESH_MS = 5_000
const PAGE_MAX = 100

const PAGING = ['status', 'before', 'after', 'limit'] as const

export function routeRuns(app: App, served: Served): void {
  const onlyGet = () => {
    throw notAllowed('GET')
  }
  app
    .get('/api/runs', async (call) => {
      const filter = filterOf(call)
      const key = `runs ${JSON.stringify(filter.asGiven)}`
      return Response.json(await served.read(call, key, (texts) => pageOf(served, filter.toList(), texts)))
    })
    .all(onlyGet)
  app
    .get('/api/runs/counts', async (call) => {
      const query = queryOf(call, MATCHING)
      const read = async (): Promise<RunCounts> => served.engine.runs.countByStatus(matching(query))
      const key = `counts ${JSON.stringify(query)}`
      return Response.json(await served.read(call, key, read, COUNTS_FRESH_MS))
    })
    .all(onlyGet)
}

function filterOf(call: Call) {
  const query = queryOf(call, [...MATCHING, ...PAGING])
  const limit = wholeNumber('limit', onlyOne('limit', query.limit)) ?? PAGE_DEFAULT
  if (limit < 1 || limit > PAGE_MAX) throw badRequest(`limit is a whole number from 1 to ${PAGE_MAX}.`)
  const [before, after] = [onlyOne('before', query.before), onlyOne('after', query.after)]
  const toList = (): RunsFilter & { readonly limit: number } => ({
    ...matching(query),
    ...given('before', before),
    ...given('after', after),
    limit,
  })
  return { asGiven: query, toList }
}

async function pageOf(
  served: Served,
  filter: RunsFilter & { readonly limit: number },
  texts: Texts,
): Promise<RunsPage> {
  const { runs: reader } = served.engine
  const [runs, workers] = await Promise.all([
    reader.list({ ...filter, steps: true }),
    workersOf(served.engine),
  ])
  const { after, limit, ...older } = filter
  const last = runs.at(-1)
  // After a run, that run itself is older.
  const more =
    after !== undefined ||
    (last !== undefined &&
      runs.length === limit &&
      (await reader.list({ ...older, before: last.id, limit: 1 })).length > 0)
  return {
    readAt: runs[0]?.readAt.getTime() ?? Date.now(),
    runs: runs.map((run) => listedRun(run, workers, texts)),
    more,
  }
}

function listedRun(run: RunWithSteps, workers: readonly WorkerSnapshot[], texts: Texts): ListedRun {
  const { id, workflow, version, key, status, tags, parentId } = run
  return {
    ...{ id, workflow, version, key, status, tags, parentId },
    createdAt: run.createdAt.getTime(),
    finishedAt: run.finishedAt?.getTime(),
    steps: listedSteps(run),
    why: hasEnded(run) ? whyEnded(run, texts) : whyListed(run, workers),
  }
}
