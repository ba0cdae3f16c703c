import type { Finding, WorkerSnapshot } from '@belay/workflow'
import type { Health, HealthFinding } from '../api.ts'
import { notAllowed, withoutCredentials } from '../problem.ts'
import { type App, queryOf, type Served } from '../served.ts'
import type { Texts } from '../view/texts.ts'
import { countsOf, liveIn, workersOf } from './overview.ts'

export function routeHealth(app: App, served: Served): void {
  app
    .get('/api/health', async (call) => {
      queryOf(call, [])
      return Response.json(await served.read(call, 'health', (texts) => healthOf(served, texts)))
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

async function healthOf({ engine }: Served, texts: Texts): Promise<Health> {
  const begun = performance.now()
  const [report, counts, workers] = await Promise.all([engine.doctor(), countsOf(engine), workersOf(engine)])
  const findings = report.findings.map((finding) => healthFinding(finding, texts))
  return {
    readAt: counts.readAt,
    tookMs: Math.round(performance.now() - begun),
    findings,
    overview: { ...counts, workers: liveIn(workers), findings: findings.length },
    workers: workers.map(workerOf),
  }
}

function healthFinding(finding: Finding, texts: Texts): HealthFinding {
  const { type, actions } = finding
  return {
    type,
    sentence: withoutCredentials(sentenceOf(finding, texts)),
    runs: runsIn(finding),
    actions: actions.map(({ verb, step, run }) => ({ verb, step, run })),
  }
}

function sentenceOf(finding: Finding, texts: Texts): string {
  const { message, remedy } = finding
  // The store quotes rows in what it says about them.
  if (finding.type === 'refused_by_store' && !texts.isShown) {
    const { during, since, runId, name = 'something else' } = finding
    const what = runId === undefined ? name : `run ${runId}`
    return `Since ${since.toISOString()} ${during} fails for ${what}. Only who may read payloads sees the reason. ${remedy}`
  }
  return message.endsWith(remedy) ? message : `${message} ${remedy}`
}

function runsIn(finding: Finding): readonly string[] {
  if ('runIds' in finding) return finding.runIds
  return 'runId' in finding && finding.runId !== undefined ? [finding.runId] : []
}

function workerOf(worker: WorkerSnapshot): Health['workers'][number] {
  const { id, name, host, status, slots, busy, renewedAt, workflows = [] } = worker
  return {
    ...{ id, name, host, status, slots, busy },
    renewedAt: renewedAt?.getTime(),
    workflows: workflows.map((one) => `${one.name} v${one.version}`),
  }
}
