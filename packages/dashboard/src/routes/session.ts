import type { Session } from '../api.ts'
import { notAllowed } from '../problem.ts'
import type { App, Served } from '../served.ts'

export function routeSession(app: App, { settings }: Served): void {
  app
    .get('/api/session', ({ env }) => {
      const session: Session = { by: env.by, can: [...env.can], title: settings.title, views: settings.views }
      return Response.json(session)
    })
    .all(() => {
      throw notAllowed('GET')
    })
}
