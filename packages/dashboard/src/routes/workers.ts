import type { WorkerSnapshot } from '@belay/workflow'
import type { Holds, UnservedVersion, Worker, WorkerCounts, WorkersPage } from '../api/workers.ts'
import { notAllowed, notFound, withoutCredentials } from '../problem.ts'
import { type App, queryOf, type Served } from '../served.ts'
import { storeNow } from '../store-now.ts'
import { helpFor } from '../view/finding-help.ts'
import type { Texts } from '../view/texts.ts'
import { findingsOf, WORKERS_MAX, workersOf } from './overview.ts'

const LISTED_MAX = 200
const HELD_MAX = 50
/** So many are looked at to find those that are held the longest. */
const HELD_READ_MAX = 1_000
const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

export function routeWorkers(app: App, served: Served): void {
  const onlyGet = () => {
    throw notAllowed('GET')
  }
  app
    .get('/api/workers', async (call) => {
      queryOf(call, [])
      return Response.json(await served.read(call, 'workers', (texts) => pageOf(served, texts)))
    })
    .all(onlyGet)
  app
    .get('/api/workers/:id/holds', async (call) => {
      queryOf(call, [])
      const id = call.req.param('id')
      if (!ID.test(id)) throw notFound('That is no id of a worker.')
      return Response.json(await served.read(call, `holds ${id}`, () => holdsOf(served, id)))
    })
    .all(onlyGet)
}

async function pageOf(served: Served, texts: Texts): Promise<WorkersPage> {
  const { engine } = served
  const [workers, readAt, { findings }] = await Promise.all([
    workersOf(engine),
    storeNow(engine),
    findingsOf(served, texts),
  ])
  const unserved = findings.flatMap((finding): readonly UnservedVersion[] => {
    if (finding.type !== 'version_without_worker') return []
    const { workflow, version, runs, oldest, remedy } = finding
    const { query = '' } = helpFor(finding)
    return [
      { ...{ workflow, version, runs, query }, oldest: oldest.getTime(), remedy: withoutCredentials(remedy) },
    ]
  })
  return {
    readAt,
    counts: workerCounts(workers),
    workers: workers.toSorted(byUrgency).slice(0, LISTED_MAX).map(workerOf),
    unserved,
  }
}

export function workerCounts(workers: readonly WorkerSnapshot[]): WorkerCounts {
  const of = (status: Worker['status']) => workers.filter((worker) => worker.status === status)
  const live = of('live')
  return {
    live: live.length,
    expired: of('expired').length,
    dead: of('dead').length,
    slots: live.reduce((sum, { slots = 0 }) => sum + slots, 0),
    busy: live.reduce((sum, { busy = 0 }) => sum + busy, 0),
    capped: workers.length >= WORKERS_MAX,
  }
}

const URGENCY = ['dead', 'expired', 'live']

function byUrgency(one: WorkerSnapshot, other: WorkerSnapshot): number {
  const urgency = URGENCY.indexOf(one.status) - URGENCY.indexOf(other.status)
  return urgency || (one.name < other.name ? -1 : Number(one.name > other.name))
}

function workerOf(worker: WorkerSnapshot): Worker {
  const { id, name, host, status, slots, busy, workflows = [] } = worker
  return {
    ...{ id, name, host, status, slots, busy },
    startedAt: worker.startedAt?.getTime(),
    renewedAt: worker.renewedAt?.getTime(),
    leaseExpiresAt: worker.leaseExpiresAt?.getTime(),
    workflows: workflows.map((one) => `${one.name} v${one.version}`),
  }
}

async function holdsOf({ engine, keys }: Served, id: string): Promise<Holds> {
  const [held, readAt] = await Promise.all([
    engine.workers.holds(id, { limit: HELD_READ_MAX }),
    storeNow(engine),
  ])
  const steps = held.map(({ runId, workflow, version, step, direction, attempt, since }) => ({
    ...{ runId, workflow, version, step, attempt },
    isUndo: direction === 'undo',
    since: since.getTime(),
  }))
  steps.sort((one, other) => one.since - other.since)
  const shown = steps.slice(0, HELD_MAX)
  const known = await keys.of(
    engine,
    shown.map(({ runId }) => runId),
  )
  const named = shown.map((step) => ({ ...step, key: known[step.runId] }))
  return { readAt, steps: named, more: steps.length > HELD_MAX }
}
