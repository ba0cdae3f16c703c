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

async function healthOf(served: Served, texts: Texts): Promise<SharedHealth> {
  const begun = performance.now()
  const { engine } = served
  const [report, counts, workers, lastMinute, lastHour] = await Promise.all([
    engine.doctor({ quote: texts.quote }),
    countsOf(engine),
    workersOf(engine),
    lastMinuteOf(engine),
    served.lastHour.ended(endedIn(engine), Date.now()),
  ])
  const findings = await healthFindings(served, report.findings)
  return {
    readAt: counts.readAt,
    tookMs: Math.round(performance.now() - begun),
    findings,
    lastMinute,
    lastHour,
    overview: { ...counts, workers: liveIn(workers), ...findingCounts(report.findings) },
    workers: workerCounts(workers),
  }
}

function endedIn({ runs }: Engine) {
  return async (finishedAfter: number, finishedBefore: number) =>
    (await runs.count({ finishedAfter, finishedBefore })).count
}

async function lastMinuteOf({ runs }: Engine): Promise<Health['lastMinute']> {
  const since = Date.now() - 60_000
  const [started, ended] = await Promise.all([
    runs.count({ createdAfter: since }),
    runs.count({ finishedAfter: since }),
  ])
  return { started, ended }
}

/** As many as the page shows of a finding, and its sentence names. */
const NAMED_MAX = 5

/** With keys in place of ids. */
export async function healthFindings(
  { engine, keys }: Served,
  findings: readonly Finding[],
): Promise<readonly SharedFinding[]> {
  const shared = findings.map((finding) => ({ finding, runs: runsIn(finding), help: helpFor(finding) }))
  const named = shared.flatMap(({ runs, help }) => [
    ...runs.slice(0, NAMED_MAX),
    ...help.actions.map(({ run }) => run),
  ])
  const known = await keys.of(engine, named)
  return shared.map(({ finding, runs, help }) => {
    const own = [...runs, ...help.actions.map(({ run }) => run)].filter((id) => known[id] !== undefined)
    return {
      type: finding.type,
      sentence: withKeys(withoutCredentials(sentenceOf(finding)), known),
      runs,
      keys: Object.fromEntries(own.map((id) => [id, known[id]!])),
      ...help,
    }
  })
}

function withKeys(sentence: string, keys: Readonly<Record<string, string>>): string {
  return Object.entries(keys).reduce((text, [id, key]) => text.replaceAll(id, () => key), sentence)
}

function sentenceOf({ message, remedy }: Finding): string {
  return message.endsWith(remedy) ? message : `${message} ${remedy}`
}

function runsIn(finding: Finding): readonly string[] {
  if ('runIds' in finding) return finding.runIds
  return 'runId' in finding && finding.runId !== undefined ? [finding.runId] : []
}
