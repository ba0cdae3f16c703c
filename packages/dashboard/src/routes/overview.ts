import type { DoctorReport, Engine, WorkerSnapshot } from '@belay/workflow'
import type { Capped, Overview } from '../api.ts'
import { notAllowed } from '../problem.ts'
import { type App, queryOf, type Served } from '../served.ts'
import type { Texts } from '../view/texts.ts'

/** As many as the screen of approvals reads: both tell the same number. */
export const APPROVALS_MAX = 500
export const WORKERS_MAX = 1_000
/** Looking for findings costs more than counting. */
const FINDINGS_FRESH_MS = 30_000

export function routeOverview(app: App, served: Served): void {
  app
    .get('/api/overview', async (call) => {
      queryOf(call, [])
      const read = (texts: Texts) => overviewOf(served, texts)
      return Response.json(await served.read(call, 'overview', read))
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

async function overviewOf(served: Served, texts: Texts): Promise<Overview> {
  const { engine } = served
  const [counts, workers, { findings }] = await Promise.all([
    countsOf(engine),
    workersOf(engine),
    findingsOf(served, texts),
  ])
  return { ...counts, workers: liveIn(workers), ...findingCounts(findings) }
}

/** Parked runs are counted themselves. */
export function findingCounts(
  findings: DoctorReport['findings'],
): Pick<Overview, 'findings' | 'otherFindings'> {
  return { findings: findings.length, otherFindings: findings.filter(isOther).length }
}

export function isOther({ type }: DoctorReport['findings'][number]): boolean {
  return type !== 'parked_runs'
}

/** Read once for all screens that show some of them, and all viewers who may see the same. */
export function findingsOf({ engine, shared }: Served, { isShown, quote }: Texts): Promise<DoctorReport> {
  return shared.read(`findings ${isShown}`, () => engine.doctor({ quote }), FINDINGS_FRESH_MS)
}

export function liveIn(workers: readonly WorkerSnapshot[]): number {
  return workers.filter(({ status }) => status === 'live').length
}

export function workersOf(engine: Engine): Promise<readonly WorkerSnapshot[]> {
  return engine.workers.list({ limit: WORKERS_MAX })
}

export async function countsOf(
  engine: Engine,
): Promise<Omit<Overview, 'workers' | 'findings' | 'otherFindings'>> {
  const [queue, pending] = await Promise.all([
    engine.queue(),
    engine.approvals.pending({ limit: APPROVALS_MAX + 1 }),
  ])
  const { readAt, ready, parkedUndos, liveRuns } = queue
  const approvals: Capped = {
    count: Math.min(pending.length, APPROVALS_MAX),
    capped: pending.length > APPROVALS_MAX,
  }
  const { count, capped, oldestAgeMs } = ready
  return {
    readAt: readAt.getTime(),
    ...{ parkedUndos, approvals, liveRuns },
    ready: { count, capped, oldestAgeMs },
  }
}
