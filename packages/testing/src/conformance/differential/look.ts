import type { Adapter, RunRecord, SavedDefinition } from '@belay/workflow/adapter'
import { UNLIMITED } from '../scenario/worker.ts'
import type { Look } from './command.ts'
import { GRAPHS } from './graphs.ts'

const FAR = Date.UTC(2100, 0, 1)

/** What a store shows, with instants counted from `startedAt`. */
export async function look(
  adapter: Adapter,
  command: Look,
  { definitionIds, startedAt }: { readonly definitionIds: readonly number[]; readonly startedAt: number },
): Promise<unknown> {
  return relative(await shown(adapter, command, definitionIds), startedAt)
}

// Longer than other functions: one arm for each command, checked to be exhaustive.
async function shown(adapter: Adapter, command: Look, definitionIds: readonly number[]): Promise<unknown> {
  switch (command.do) {
    case 'workers':
      // A store that cannot know the machine's name reports none.
      return (await adapter.listWorkers()).map(({ host: _, ...worker }) => worker)
    case 'diagnose': {
      const { liveRuns, moreLiveRuns, strandedSteps } = await adapter.diagnose({
        overdueMs: 60_000,
        recentMs: 60_000,
      })
      return {
        liveRuns: liveRuns.map(({ runIds: _, definitionId: __, ...runs }) => JSON.stringify(runs)).sort(),
        moreLiveRuns,
        strandedSteps,
      }
    }
    case 'definitions':
      return (await adapter.readDefinitions(definitionIds)).map(withoutId)
    case 'newest':
      return withoutId(await adapter.findDefinition({ name: 'branches' }))
    case 'listDefinitions':
      // Which definitions were saved first, this store's harness knows.
      return (await adapter.listDefinitions({ after: null, limit: UNLIMITED, liveMax: 3 })).map(
        ({ createdAt: _, ...listed }) => listed,
      )
    case 'countReady': {
      // Steps of the same moment may be due a fraction of a millisecond apart.
      const { at: _, oldestDueAt: __, ...ready } = await adapter.countReady({ max: UNLIMITED })
      return ready
    }
    case 'attempts':
      return adapter.readAttempts({ runId: command.runId, limit: UNLIMITED })
    case 'listHeld':
      return adapter.listHeld({ workerId: command.workerId, limit: UNLIMITED })
    case 'statuses':
      return [
        ...(await adapter.readStatuses(command.runIds)),
        ...(await adapter.readStatuses(command.runIds, { stored: true })),
        ...(await adapter.readResults(command.runIds))
          .map(({ runId, steps }) => ({ runId, steps }))
          .sort((one, other) => (one.runId < other.runId ? -1 : 1)),
      ]
    case 'observe':
      // The texts are each store's own. And the port leaves open when a stopped run's waiting steps change.
      return (await adapter.observeRuns(command.runIds)).map(({ runId, status, values }) => {
        return { runId, status, hasValues: values !== '' }
      })
    case 'values':
      return adapter.readValues(command.runId)
    case 'collected':
      return adapter.readCollected(command.runId)
    case 'find':
      return adapter.findRun({ runId: command.runId })
    case 'children':
      return (await adapter.listRuns({ parentId: command.runId, limit: UNLIMITED })).map(nameOf)
    case 'findByKey':
      return adapter.findRun({ workflow: GRAPHS[command.graph]!.name, key: command.key })
    case 'list':
      return (await adapter.listRuns({ status: [command.status], limit: UNLIMITED })).map(nameOf)
    case 'count':
      return adapter.countRuns({ status: [command.status], byStatus: true, max: UNLIMITED })
    case 'findEnded': {
      // The port leaves open what a cursor contains.
      const { cursor: _, ...found } = await adapter.findEnded({
        finishedBefore: FAR,
        statuses: [command.status],
        after: null,
        limit: UNLIMITED,
      })
      return { ...found, runIds: [...found.runIds].sort() }
    }
  }
}

export function withoutId(definition: SavedDefinition | null) {
  if (definition === null) return null
  const { id: _, ...record } = definition
  return record
}

function nameOf({ runId, status, key }: RunRecord) {
  return { runId, status, key }
}

const INSTANTS: ReadonlySet<string> = new Set([
  'at',
  'since',
  'startedAt',
  'renewedAt',
  'leaseExpiresAt',
  'deadlineAt',
])

function relative(value: unknown, startedAt: number): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, inner: unknown) =>
      INSTANTS.has(key) && typeof inner === 'number' ? Math.round(inner - startedAt) : inner,
    ),
  )
}
