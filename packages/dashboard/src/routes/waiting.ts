import type { Engine, PendingApproval } from '@belay/workflow'
import type { Wait, WaitingPage } from '../api/waiting.ts'
import type { ActionRequest } from '../api.ts'
import { CAPABILITY_OF } from '../capabilities.ts'
import { notAllowed } from '../problem.ts'
import { onlyOne } from '../query.ts'
import { type App, type Call, queryOf, type Served } from '../served.ts'
import { storeNow } from '../store-now.ts'
import { DecidedRuns } from '../view/decided.ts'
import type { Texts } from '../view/texts.ts'
import { APPROVALS_MAX } from './overview.ts'

const FRESH_MS = 2_000

/** What waits for a decision or a signal. */
export function routeWaiting(app: App, served: Served): void {
  const decided = new DecidedRuns()
  app
    .get('/api/waiting', async (call) => {
      const workflow = onlyOne('workflow', queryOf(call, ['workflow']).workflow)
      const read = (texts: Texts) =>
        waitsOf(served.engine, workflow, (ids) => decided.of(served.engine, ids, texts))
      const found = await served.read(call, `waiting ${workflow ?? ''}`, read, FRESH_MS)
      const waits = found.waits.map((wait) => ({ ...wait, actions: offered(wait, call) }))
      return Response.json({ ...found, waits } satisfies WaitingPage)
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

type Found = Omit<Wait, 'actions'>

async function waitsOf(
  engine: Engine,
  workflow: string | undefined,
  decidedOf: (runIds: readonly string[]) => ReturnType<DecidedRuns['of']>,
) {
  const filter = { ...(workflow === undefined ? {} : { workflow }), limit: APPROVALS_MAX + 1 }
  const [readAt, approvals, signals] = await Promise.all([
    storeNow(engine),
    engine.approvals.pending(filter),
    engine.signals.pending(filter),
  ])
  const waits = [...waitsIn('approval', approvals), ...waitsIn('signal', signals)].toSorted(byLimit)
  const decided = await decidedOf(waits.flatMap(({ kind, runId }) => (kind === 'approval' ? runId : [])))
  return {
    readAt,
    waits: waits.map((wait) => ({
      ...wait,
      ...(wait.kind === 'approval' && { decided: decided.get(wait.runId) }),
    })),
    more: Math.max(approvals.length, signals.length) > APPROVALS_MAX,
  }
}

function waitsIn(kind: Wait['kind'], pending: readonly PendingApproval[]): readonly Found[] {
  return pending.slice(0, APPROVALS_MAX).map(({ since, timeoutAt, ...wait }) => ({
    ...wait,
    kind,
    since: since.getTime(),
    until: timeoutAt?.getTime(),
  }))
}

function byLimit(one: Found, other: Found): number {
  const [left, right] = [one.until ?? Number.POSITIVE_INFINITY, other.until ?? Number.POSITIVE_INFINITY]
  return left === right ? one.since - other.since : left - right
}

const VERBS: Readonly<Record<Wait['kind'], readonly ActionRequest['verb'][]>> = {
  approval: ['approve', 'reject'],
  signal: ['signal'],
}

function offered({ kind, step }: Found, { env }: Call): Wait['actions'] {
  return VERBS[kind].map((verb) => ({ verb, step, denied: !env.can.has(CAPABILITY_OF[verb]) }))
}
