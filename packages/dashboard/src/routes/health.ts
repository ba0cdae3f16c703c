import type { Engine, Finding } from '@belay/workflow'
import type { Health, HealthFinding } from '../api.ts'
import { CAPABILITY_OF } from '../capabilities.ts'
import { notAllowed, withoutCredentials } from '../problem.ts'
import { type App, type Call, queryOf, type Served } from '../served.ts'
import { helpFor, type Offer } from '../view/finding-help.ts'
import type { Texts } from '../view/texts.ts'
import { countsOf, findingCounts, liveIn, workersOf } from './overview.ts'
import { workerCounts } from './workers.ts'

export function routeHealth(app: App, served: Served): void {
  app
    .get('/api/health', async (call) => {
      queryOf(call, [])
      const health = await served.read(call, 'health', (texts) => healthOf(served, texts))
      return Response.json(forViewer(health, call) satisfies Health)
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

/** As all viewers share it: what each of them may do is told afterwards. */
type SharedFinding = Omit<HealthFinding, 'actions'> & { readonly actions: readonly Offer[] }
type SharedHealth = Omit<Health, 'findings'> & { readonly findings: readonly SharedFinding[] }

/** With what this viewer may do about each. */
export function forViewer<Page extends { readonly findings: readonly SharedFinding[] }>(
  page: Page,
  { env }: Call,
): Omit<Page, 'findings'> & Pick<Health, 'findings'> {
  const offered = (offer: Offer) => ({ ...offer, denied: !env.can.has(CAPABILITY_OF[offer.verb]) })
  const findings = page.findings.map((one) => ({ ...one, actions: one.actions.map(offered) }))
  return { ...page, findings }
}

async function healthOf({ engine }: Served, texts: Texts): Promise<SharedHealth> {
  const begun = performance.now()
  const [report, counts, workers, lastMinute] = await Promise.all([
    engine.doctor(),
    countsOf(engine),
    workersOf(engine),
    lastMinuteOf(engine),
  ])
  const findings = report.findings.map((finding) => healthFinding(finding, texts))
  return {
    readAt: counts.readAt,
    tookMs: Math.round(performance.now() - begun),
    findings,
    lastMinute,
    overview: { ...counts, workers: liveIn(workers), ...findingCounts(report.findings) },
    workers: workerCounts(workers),
  }
}

async function lastMinuteOf({ runs }: Engine): Promise<Health['lastMinute']> {
  const since = Date.now() - 60_000
  const [started, ended] = await Promise.all([
    runs.count({ createdAfter: since }),
    runs.count({ finishedAfter: since }),
  ])
  return { started, ended }
}

export function healthFinding(finding: Finding, texts: Texts): SharedFinding {
  return {
    type: finding.type,
    sentence: withoutCredentials(sentenceOf(finding, texts)),
    runs: runsIn(finding),
    ...helpFor(finding),
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
