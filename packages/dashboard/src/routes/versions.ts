import type { WorkerSnapshot, WorkflowSummary } from '@belay/workflow'
import type {
  StoredVersion,
  VersionGraph,
  VersionsDiff,
  VersionsPage,
  WorkflowVersions,
} from '../api/versions.ts'
import { notAllowed, notFound } from '../problem.ts'
import { onlyOne, wholeNumber } from '../query.ts'
import { type App, queryOf, type Served } from '../served.ts'
import { storeNow } from '../store-now.ts'
import { moveCommand } from '../view/finding-help.ts'
import { workersOf } from './overview.ts'

const WORKFLOWS_MAX = 100
const VERSIONS_MAX = 50
const NAMES_MAX = 5
/** It counts the live runs of every workflow. */
const LIST_FRESH_MS = 5_000

export function routeVersions(app: App, served: Served): void {
  const onlyGet = () => {
    throw notAllowed('GET')
  }
  app
    .get('/api/versions', async (call) => {
      const after = onlyOne('after', queryOf(call, ['after']).after)
      return Response.json(pageOf(await storedIn(served), after))
    })
    .all(onlyGet)
  app
    .get('/api/versions/:workflow', async (call) => {
      const query = queryOf(call, ['from', 'to'])
      const from = wholeNumber('from', onlyOne('from', query.from))
      const to = wholeNumber('to', onlyOne('to', query.to))
      return Response.json(await diffOf(served, call.req.param('workflow'), { from, to }))
    })
    .all(onlyGet)
}

interface Stored {
  readonly readAt: number
  readonly workflows: readonly WorkflowSummary[]
  readonly viewOf: (workflow: string, version: WorkflowSummary['versions'][number]) => StoredVersion
}

/** What is stored, and who can run it: for all viewers and both routes, as none of it depends on who looks. */
function storedIn({ engine, shared, settings }: Served): Promise<Stored> {
  const read = async () => {
    const [workflows, workers, readAt] = await Promise.all([
      engine.workflows.list(),
      workersOf(engine),
      storeNow(engine),
    ])
    const namesOf = workersByVersion(workers)
    const given = new Set((settings.workflows ?? []).map(({ name, version }) => `${version} ${name}`))
    const viewOf: Stored['viewOf'] = (workflow, { version, createdAt, liveRuns }) => {
      const names = namesOf.get(`${version} ${workflow}`) ?? []
      return {
        ...{ version, liveRuns, createdAt: createdAt.getTime() },
        workers: { count: names.length, names: names.slice(0, NAMES_MAX) },
        isGiven: given.has(`${version} ${workflow}`),
      }
    }
    return { readAt, workflows, viewOf }
  }
  return shared.read('versions', read, LIST_FRESH_MS)
}

function workersByVersion(workers: readonly WorkerSnapshot[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  for (const worker of workers) {
    if (worker.status !== 'live') continue
    for (const { name, version } of worker.workflows ?? []) {
      const key = `${version} ${name}`
      names.set(key, [...(names.get(key) ?? []), worker.name])
    }
  }
  return names
}

function pageOf({ readAt, workflows, viewOf }: Stored, after = ''): VersionsPage {
  const next = workflows.filter(({ name }) => name > after)
  const listed = next.slice(0, WORKFLOWS_MAX).map((workflow) => listedOf(workflow, viewOf))
  return { readAt, workflows: listed, more: next.length > WORKFLOWS_MAX }
}

function listedOf({ name, versions }: WorkflowSummary, viewOf: Stored['viewOf']): WorkflowVersions {
  const newest = versions.slice(0, VERSIONS_MAX).map((version) => viewOf(name, version))
  return { name, versions: newest, stored: versions.length }
}

async function diffOf(
  served: Served,
  name: string,
  asked: { readonly from: number | undefined; readonly to: number | undefined },
): Promise<VersionsDiff> {
  const { readAt, workflows, viewOf } = await storedIn(served)
  const workflow = workflows.find((one) => one.name === name)
  if (workflow === undefined) throw notFound('No workflow of this name is stored.')
  const graphOf = async (version: number): Promise<VersionGraph> => {
    const found = workflow.versions.find((one) => one.version === version)
    if (found === undefined) throw notFound('This version is not stored.')
    const steps = await served.graph(name, version)
    return {
      ...viewOf(name, found),
      steps: steps.map(({ name, kind, dependsOn, compensate, pivot, irreversible }) => {
        return { name, kind, dependsOn, compensate, pivot, irreversible }
      }),
    }
  }
  const to = asked.to ?? workflow.versions.find(({ version }) => version !== asked.from)?.version
  const from = asked.from ?? workflow.versions.find(({ version }) => version < to!)?.version
  const [before, after] = await Promise.all([
    from === undefined ? undefined : graphOf(from),
    graphOf(to ?? asked.from!),
  ])
  return {
    ...listedOf(workflow, viewOf),
    readAt,
    from: before,
    to: after,
    command: before && moveCommand(name, before.version, after.version),
  }
}
