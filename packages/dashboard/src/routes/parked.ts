import type { ParkedPage } from '../api/parked.ts'
import type { OfferedHere } from '../api.ts'
import { CAPABILITY_OF } from '../capabilities.ts'
import { groupsOf } from '../parked/groups.ts'
import { Inbox } from '../parked/inbox.ts'
import { notAllowed } from '../problem.ts'
import { type App, type Call, queryOf, type Served } from '../served.ts'
import { historyEntry } from '../view/history.ts'
import type { Texts } from '../view/texts.ts'

const GROUPS_MAX = 100
const HISTORY_MAX = 50
const VERBS = ['retryCompensation', 'skipCompensation'] as const

/** Undos that failed for good, by what failed. */
export function routeParked(app: App, served: Served): void {
  const inbox = new Inbox(served)
  app
    .get('/api/parked', async (call) => {
      queryOf(call, [])
      const page = await served.read(call, 'parked', (texts) => pageOf(served, inbox, texts))
      return Response.json({ ...page, actions: offered(call) } satisfies ParkedPage)
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

async function pageOf(served: Served, inbox: Inbox, texts: Texts): Promise<Omit<ParkedPage, 'actions'>> {
  // Read once, whatever the viewers may see of it.
  const { readAt, listed, more, runs, gone } = await served.shared.read('parked', () => inbox.look())
  const groups = groupsOf(runs, readAt, texts)
  return {
    readAt,
    runs: { count: listed, capped: more },
    read: runs.length,
    groups: groups.slice(0, GROUPS_MAX),
    more: groups.length > GROUPS_MAX,
    settled: listed > 0 || gone === undefined ? undefined : await settledIn(served, gone),
  }
}

const SETTLING: ReadonlySet<string> = new Set(['retry_compensation', 'skip_compensation'])

/** Who settled this run, and how. */
async function settledIn(served: Served, id: string): Promise<ParkedPage['settled']> {
  const { runs } = served.engine
  const [run] = await runs.list({ idPrefix: id, limit: 1 })
  if (run === undefined) return undefined
  const history = await runs.history(id, { limit: HISTORY_MAX })
  const entry = history.findLast(({ action }) => SETTLING.has(action))
  if (entry === undefined) return undefined
  const { workflow, version, key, status } = run
  const graph = await served.graph(workflow, version)
  return { ...historyEntry(entry, graph), run: { id, workflow, key, status } }
}

function offered({ env }: Call): readonly OfferedHere[] {
  return VERBS.map((verb) => ({ verb, denied: !env.can.has(CAPABILITY_OF[verb]) }))
}
