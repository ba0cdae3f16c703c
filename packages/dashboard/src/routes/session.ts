import { STATUS_WORDS, statusesOf } from '@belay/workflow'
import type { Session } from '../api.ts'
import { notAllowed } from '../problem.ts'
import type { App, Served } from '../served.ts'

const STATUSES = Object.fromEntries(STATUS_WORDS.map((word) => [word, statusesOf(word)!]))

export function routeSession(app: App, { settings }: Served): void {
  app
    .get('/api/session', ({ env }) => {
      const { title, views } = settings
      const session: Session = { by: env.by, can: [...env.can], title, views, statuses: STATUSES }
      return Response.json(session)
    })
    .all(() => {
      throw notAllowed('GET')
    })
}
