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
    engine.doctor({ quote: texts.quote }),
    countsOf(engine),
    workersOf(engine),
    lastMinuteOf(engine),
  ])
  const findings = report.findings.map(healthFinding)
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

export function healthFinding(finding: Finding): SharedFinding {
  return {
    type: finding.type,
    sentence: withoutCredentials(sentenceOf(finding)),
    runs: runsIn(finding),
    ...helpFor(finding),
  }
}

function sentenceOf({ message, remedy }: Finding): string {
  return message.endsWith(remedy) ? message : `${message} ${remedy}`
}

function runsIn(finding: Finding): readonly string[] {
  if ('runIds' in finding) return finding.runIds
  return 'runId' in finding && finding.runId !== undefined ? [finding.runId] : []
}
