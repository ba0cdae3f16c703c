import {
  type Duration,
  durationMs,
  type RunsFilter,
  type RunsMatching,
  type RunWithSteps,
} from '@belay/workflow'
import type { ListedRun, RunCounts, RunsPage, RunsQuery } from '../api.ts'
import { badRequest, notAllowed } from '../problem.ts'
import { type App, type Call, checkedQuery, onlyOne, queryOf, type Served, wholeNumber } from '../served.ts'
import { grouped } from '../view/grouped.ts'
import type { Texts } from '../view/texts.ts'
import { hasEnded, whyEnded, whyListed } from '../view/why.ts'

const PAGE_DEFAULT = 50
/** Each status is counted to its cap, which costs as much as ten pages of runs. */
const COUNTS_FRESH_MS = 5_000
const PAGE_MAX = 100

const MATCHING = [
  'workflow',
  'version',
  'key',
  'tag',
  'parent',
  'since',
  'until',
] as const satisfies readonly (keyof RunsQuery)[]
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

type Query = ReturnType<typeof queryOf<(typeof MATCHING)[number] | (typeof PAGING)[number]>>

function filterOf(call: Call) {
  const query: Query = queryOf(call, [...MATCHING, ...PAGING])
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

/** The runs of a page of Runs, by its query as text. Throws `RequestError` for what that page would not take either. */
export function matchingText(query: string): RunsMatching {
  const given = [...grouped([...new URLSearchParams(query)], ([name]) => name)]
  const values = given.map(([name, pairs]) => [name, pairs.map(([, value]) => value)] as const)
  return matching(checkedQuery(Object.fromEntries(values), [...MATCHING, 'status']))
}

function matching(query: Query): RunsMatching {
  return {
    // The engine names what is no status, and the nearest one.
    ...given('status', query.status as RunsMatching['status']),
    ...given('workflow', query.workflow),
    ...given('version', wholeNumber('version', onlyOne('version', query.version))),
    ...given('key', onlyOne('key', query.key)),
    ...given('tags', query.tag),
    ...given('parentId', onlyOne('parent', query.parent)),
    ...given('createdAfter', instantOf('since', onlyOne('since', query.since))),
    ...given('createdBefore', instantOf('until', onlyOne('until', query.until))),
  }
}

function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value }
}

/** Epoch milliseconds, or a span back from now. */
function instantOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{12,15}$/.test(text)) return Number(text)
  if (!/^\d+(\.\d+)?\s*[a-z]+$/i.test(text)) {
    throw badRequest(`${name} is epoch milliseconds, or a span back from now like 1h or 7d.`)
  }
  return Date.now() - durationMs(text as Duration, name)
}

async function pageOf(
  served: Served,
  filter: RunsFilter & { readonly limit: number },
  texts: Texts,
): Promise<RunsPage> {
  const { runs: reader } = served.engine
  const runs = await reader.list({ ...filter, steps: true })
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
    runs: runs.map((run) => listedRun(run, texts)),
    more,
  }
}

function listedRun(run: RunWithSteps, texts: Texts): ListedRun {
  const { id, workflow, version, key, status, tags, parentId } = run
  return {
    ...{ id, workflow, version, key, status, tags, parentId },
    createdAt: run.createdAt.getTime(),
    finishedAt: run.finishedAt?.getTime(),
    steps: run.steps.map(({ name, kind, status, items }) => ({
      ...{ name, kind, status },
      items: items && { total: items.items, ended: items.ended, failed: failedIn(items.statuses) },
    })),
    why: hasEnded(run) ? whyEnded(run, texts) : whyListed(run),
  }
}

function failedIn({
  failed = 0,
  compensation_failed = 0,
}: {
  failed?: number
  compensation_failed?: number
}) {
  return failed + compensation_failed
}
