import type { NeedsPage } from '../api/needs.ts'
import { notAllowed } from '../problem.ts'
import { type App, queryOf, type Served } from '../served.ts'
import { storeNow } from '../store-now.ts'
import type { Texts } from '../view/texts.ts'
import { forViewer, healthFindings } from './health.ts'
import { findingsOf, isOther } from './overview.ts'

/** Findings that are no parked undos. */
export function routeNeeds(app: App, served: Served): void {
  app
    .get('/api/needs', async (call) => {
      queryOf(call, [])
      const page = await served.read(call, 'needs', (texts) => pageOf(served, texts))
      return Response.json(forViewer(page, call) satisfies NeedsPage)
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

async function pageOf(served: Served, texts: Texts) {
  const [readAt, { findings }] = await Promise.all([storeNow(served.engine), findingsOf(served, texts)])
  return { readAt, findings: await healthFindings(served, findings.filter(isOther)) }
}
