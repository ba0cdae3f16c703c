import { Hono } from 'hono'
import { pageResponse } from './assets.ts'
import { Lane } from './lane.ts'
import { checkOptions, type DashboardOptions, type Viewer, viewerOf } from './options.ts'
import { notAllowed, notFound, problemResponse, RequestError } from './problem.ts'
import { routeActions } from './routes/actions.ts'
import { routeHealth } from './routes/health.ts'
import { routeItems } from './routes/items.ts'
import { routeLimits } from './routes/limits.ts'
import { routeMaps } from './routes/maps.ts'
import { routeNames } from './routes/names.ts'
import { routeNeeds } from './routes/needs.ts'
import { routeOverview } from './routes/overview.ts'
import { routeParked } from './routes/parked.ts'
import { routePayloads } from './routes/payloads.ts'
import { routeRepairs } from './routes/repairs.ts'
import { routeRows } from './routes/rows.ts'
import { routeRun } from './routes/run.ts'
import { routeRuns } from './routes/runs.ts'
import { routeSchedules } from './routes/schedules.ts'
import { routeSession } from './routes/session.ts'
import { routeVersions } from './routes/versions.ts'
import { routeWaiting } from './routes/waiting.ts'
import { routeWorkers } from './routes/workers.ts'
import { secured } from './security.ts'
import { type App, Served } from './served.ts'

/** Answers every request below its mount path. It never rejects. */
export type DashboardHandler = (request: Request) => Promise<Response>

/**
 * The dashboard of one store, as one Fetch handler: for Hono, Next.js, Bun and Deno as it is, for `node:http`, Express, Koa and Fastify through
 * `toNodeHandler()`. It starts no worker and closes nothing. What viewers may do is what `authorize` says, for each request.
 *
 * @example
 * ```ts
 * const handler = dashboard({ engine, basePath: '/belay', authorize: (request) => userOf(request) ?? null })
 * ```
 *
 * @throws BelayError `invalid_option`.
 */
export function dashboard(options: DashboardOptions): DashboardHandler {
  const settings = checkOptions(options)
  const api = apiOf(new Served(settings))
  const lane = new Lane()
  return async (request) => {
    try {
      const path = pathBelow(settings.basePath, request.url)
      const isApi = path === '/api' || path.startsWith('/api/')
      const viewer = await viewerOf(settings, request)
      if (viewer === null) return secured(unauthorized(isApi))
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (isApi) {
        const answer = async () => api.fetch(request, viewer)
        return secured(
          await (isRead ? lane.within({ by: viewer.by, signal: request.signal }, answer) : answer()),
        )
      }
      if (!isRead) throw notAllowed('GET', 'HEAD')
      return secured(await pageResponse(path, settings.basePath, request))
    } catch (error) {
      return secured(problemResponse(error))
    }
  }

  function apiOf(served: Served): App {
    const app: App = new Hono<{ Bindings: Viewer }>({
      getPath: ({ url }) => pathBelow(settings.basePath, url),
    })
    for (const route of ROUTES) route(app, served)
    app.onError(problemResponse)
    app.notFound(() => problemResponse(notFound('There is nothing at this address.')))
    return app
  }
}

const ROUTES: readonly ((app: App, served: Served) => void)[] = [
  routeSession,
  routeNames,
  routeOverview,
  routeRuns,
  routeRepairs,
  routeItems,
  routePayloads,
  routeRows,
  routeActions,
  routeRun,
  routeHealth,
  routeParked,
  routeNeeds,
  routeWaiting,
  routeLimits,
  routeMaps,
  routeSchedules,
  routeWorkers,
  routeVersions,
]

/** The path as the dashboard knows it, whether a proxy or a framework has stripped the base path or not. */
function pathBelow(basePath: string, url: string): string {
  const { pathname } = new URL(url)
  if (pathname === basePath) return '/'
  return pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname
}

function unauthorized(isApi: boolean): Response {
  const message = 'Sign in to see this dashboard.'
  if (isApi) return problemResponse(new RequestError(401, 'unauthorized', message))
  return new Response(`${message}\n`, {
    status: 401,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  })
}
