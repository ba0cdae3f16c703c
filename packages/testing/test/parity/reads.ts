import {
  type Adapter,
  countItems,
  type FoundRun,
  isItem,
  LIVE_STATUSES,
  type RunConditions,
  type WorkerRecord,
} from '@belay/workflow/adapter'
import type { Rows } from '../../src/store/rows.ts'
import type { StoreTransaction } from '../../src/store/transaction.ts'
import { partOf, printOf, type View, viewOf } from './runs.ts'

type Reading = <Answer>(act: () => Answer) => Promise<Answer>

export function readsOver(rows: Rows, read: Reading): Partial<Adapter> {
  const views = () =>
    [...rows.runs.keys()]
      .sort()
      .reverse()
      .map((id) => viewOf(rows, id)!)
  const known = (ids: readonly string[]) => [...new Set(ids)].flatMap((id) => viewOf(rows, id) ?? [])
  const ended = (request: { readonly runIds: readonly string[]; readonly finishedBefore: number }) =>
    known(request.runIds).filter(
      ({ run }) => run.finishedAt !== null && run.finishedAt < request.finishedBefore,
    )
  return {
    readDefinitions: (ids) => read(() => [...new Set(ids)].flatMap((id) => rows.definitions.get(id) ?? [])),
    findDefinition: ({ name, version }) =>
      read(() => {
        const named = [...rows.definitions.values()].filter(
          (each) => each.name === name && (version === undefined || each.version === version),
        )
        return named.sort((one, other) => other.version - one.version)[0] ?? null
      }),
    listDefinitions: ({ after, limit }) =>
      read(() => {
        const all = [...rows.definitions.values()]
        const names = [...new Set(all.map(({ name }) => name))]
          .sort()
          .filter((name) => after === null || name > after)
        return names.slice(0, limit).flatMap((name) =>
          all
            .filter((each) => each.name === name)
            .sort((one, other) => other.version - one.version)
            .map(({ id, version }) => ({
              ...{ name, version, createdAt: rows.now(), capped: false },
              liveRuns: [...rows.live.values()].filter(({ definition }) => definition === id).length,
            })),
        )
      }),
    findRun: (wanted, within) =>
      read(() => {
        const inside = (within?.tx as StoreTransaction | undefined)?.fork ?? rows
        const id =
          'runId' in wanted ? wanted.runId : inside.keys.get(JSON.stringify([wanted.workflow, wanted.key]))
        const view = id === undefined ? null : viewOf(inside, id)
        return view === null ? null : foundRun(view)
      }),
    readRun: (id, items) =>
      read(() => {
        const view = viewOf(rows, id)
        return view === null ? null : partOf(view, items)
      }),
    readValues: (id) => read(() => (rows.runs.has(id) ? [] : null)),
    readHistory: () => read(() => []),
    readAttempts: () => read(() => []),
    readCollected: () => read(() => null),
    readSchedules: () => read(() => ({ schedules: [], now: rows.now() })),
    readFirings: () => read(() => []) as never,
    readLimits: () => read(() => []) as never,
    readLimitLines: () => read(() => []) as never,
    readLimitWaits: () => read(() => []) as never,
    readLimitCircles: () => read(() => []) as never,
    findRunEnds: () => read(() => []),
    listHeld: ({ workerId, limit }) =>
      read(() =>
        views()
          .reverse()
          .flatMap(({ run, steps }) =>
            steps
              .filter((step) => step.workerId === workerId)
              .map(({ step, name, attempts, startedAt, undo }) => ({
                ...{ runId: run.runId, workflow: run.workflow, version: run.version, step, name },
                attempt: undo?.attempts ?? attempts,
                direction: undo === null ? ('forward' as const) : ('undo' as const),
                since: undo?.startedAt ?? startedAt ?? run.createdAt,
              })),
          )
          .slice(0, limit),
      ),
    observeRuns: (ids) =>
      read(() =>
        known(ids).map(({ run, steps }) => ({
          ...{ runId: run.runId, status: run.status, steps: printOf(steps), values: '' },
        })),
      ),
    readStatuses: (ids, { stored = false } = {}) =>
      read(() =>
        known(ids).map(({ run, row }) => ({ runId: run.runId, status: stored ? row.status : run.status })),
      ),
    readResults: (ids) =>
      read(() =>
        known(ids)
          .filter(({ run }) => run.status === 'completed')
          .map(({ run, steps }) => ({
            ...{ runId: run.runId, definitionId: run.definitionId },
            steps: steps.filter(({ step }) => !isItem(step)),
          })),
      ),
    listRuns: (filter) =>
      read(() => {
        const { before, after, limit } = filter
        const fitting = views().filter(
          (view) =>
            fits(view, filter) &&
            (before === undefined || view.run.runId < before) &&
            (after === undefined || view.run.runId > after),
        )
        const page = after === undefined ? fitting.slice(0, limit) : fitting.slice(-limit)
        return page.map(({ run, steps }) => ({
          ...run,
          ...(filter.steps === true
            ? { states: { steps: steps.filter(({ step }) => !isItem(step)), itemCounts: countItems(steps) } }
            : {}),
        }))
      }),
    countRuns: ({ max, byStatus, ...conditions }) =>
      read(() => {
        const fitting = views().filter((view) => fits(view, conditions))
        const capped = (count: number) => ({ count: Math.min(count, max), capped: count > max })
        if (!byStatus) return [{ status: null, ...capped(fitting.length) }]
        const statuses = [...new Set(fitting.map(({ run }) => run.status))]
        return statuses.map((status) => ({
          status,
          ...capped(fitting.filter(({ run }) => run.status === status).length),
        }))
      }),
    countReady: ({ max }) =>
      read(() => {
        const dues = views().flatMap(({ run, steps }) =>
          steps
            .filter(({ status, availableAt }) => status === 'ready' && (availableAt ?? 0) <= rows.now())
            .map(({ availableAt }) => availableAt ?? run.startAt ?? run.createdAt),
        )
        return {
          ...{ at: rows.now(), steps: Math.min(max, dues.length), capped: dues.length > max },
          oldestDueAt: dues.length === 0 ? null : Math.min(...dues),
        }
      }),
    findApprovals: ({ kind, workflow, step, after, limit }) =>
      read(() => {
        const approvals = views().flatMap(({ run, row, steps }) => {
          const { shape } = rows.definitions.get(row.definition)!
          if (!['running', 'waiting', 'parked'].includes(run.status)) return []
          return shape.steps.flatMap((each, number) => {
            const own = steps[number]!
            const isWanted =
              each.kind === kind &&
              own.status === 'waiting' &&
              (workflow === undefined || workflow === run.workflow) &&
              (step === undefined || step === each.name)
            const { runId, version, key } = run
            const since = own.waitingSince ?? own.startedAt ?? 0
            const timeoutAt = own.availableAt
            return isWanted
              ? [{ runId, workflow: run.workflow, version, key, step: each.name, since, timeoutAt }]
              : []
          })
        })
        const place = approvals.findIndex(
          ({ runId, step: at }) => runId === after?.runId && at === after.step,
        )
        const part = approvals.slice(place + 1, place + 1 + limit)
        const last = part.at(-1)
        const cursor = last === undefined ? after : { runId: last.runId, step: last.step }
        return { approvals: part, cursor, more: place + 1 + limit < approvals.length } as never
      }),
    listWorkers: () => read(() => workersOf(rows)),
    diagnose: () =>
      read(() => ({
        ...{ now: rows.now(), store: { adapter: 'memory' }, workers: workersOf(rows), moreLiveRuns: false },
        ...{ overdueSteps: [], strandedSteps: [], unknownLeases: [], recentRuns: [] },
        liveRuns: views()
          .filter(({ row }) => (LIVE_STATUSES as readonly string[]).includes(row.status))
          .map(({ run, row }) => ({
            ...{ definitionId: run.definitionId, workflow: run.workflow, version: run.version },
            ...{ status: row.status, runs: 1, oldestSince: run.createdAt, runIds: [run.runId] },
          })),
      })) as never,
    findEnded: ({ statuses, workflow, tags, keyed, finishedBefore, limit }) =>
      read(() => {
        const runIds = views()
          .reverse()
          .filter(
            ({ run }) =>
              run.finishedAt !== null &&
              run.finishedAt < finishedBefore &&
              (statuses as readonly string[]).includes(run.status) &&
              (workflow === undefined || workflow.includes(run.workflow)) &&
              (tags === undefined || tags.every((tag) => run.tags.includes(tag))) &&
              (keyed !== true || run.key !== null),
          )
          .map(({ run }) => run.runId)
        return { runIds: runIds.slice(0, limit), cursor: null, more: runIds.length > limit }
      }),
    prune: (request) =>
      read(() =>
        ended(request).map(({ run }) => {
          rows.runs.delete(run.runId)
          rows.steps.delete(run.runId)
          if (run.key !== null) rows.keys.delete(JSON.stringify([run.workflow, run.key]))
          return run.runId
        }),
      ),
    releaseKeys: (request) =>
      read(() =>
        ended(request)
          .filter(({ run }) => run.key !== null)
          .map(({ row, run }) => {
            rows.keys.delete(JSON.stringify([run.workflow, run.key]))
            rows.runs.set(run.runId, { ...row, key: null })
            return run.runId
          }),
      ),
  }
}

function foundRun({ run }: View): FoundRun {
  const { runId, definitionId, workflow, version, tags, parent, deadlineAt, priority } = run
  return {
    ...{ runId, definitionId, workflow, version, tags, parent, deadlineAt },
    ...(priority === undefined ? {} : { priority }),
  }
}

function fits({ run }: View, wanted: RunConditions): boolean {
  const { workflow, version, idPrefix, status, key, keyPrefix, tags, parentId } = wanted
  const { createdAfter, createdBefore, finishedAfter, finishedBefore } = wanted
  return (
    (workflow === undefined || workflow.includes(run.workflow)) &&
    (version === undefined || run.version === version) &&
    (idPrefix === undefined || run.runId.replaceAll('-', '').startsWith(idPrefix)) &&
    (status === undefined || status.includes(run.status)) &&
    (key === undefined || run.key === key) &&
    (keyPrefix === undefined || run.key?.startsWith(keyPrefix) === true) &&
    (tags === undefined || tags.every((tag) => run.tags.includes(tag))) &&
    (parentId === undefined || run.parent?.runId === parentId.toLowerCase()) &&
    isWithin(run.createdAt, createdAfter, createdBefore) &&
    isWithin(run.finishedAt, finishedAfter, finishedBefore)
  )
}

function isWithin(instant: number | null, after: number | undefined, before: number | undefined): boolean {
  if (after === undefined && before === undefined) return true
  return instant !== null && instant >= (after ?? -Infinity) && instant < (before ?? Infinity)
}

function workersOf(rows: Rows): readonly WorkerRecord[] {
  return [...rows.workers.values()]
    .filter(({ slots }) => slots > 0)
    .map((worker) => ({
      ...{
        workerId: worker.id,
        name: worker.name,
        host: worker.host,
        slots: worker.slots,
        busy: worker.busy,
      },
      status: worker.isAlive ? 'live' : 'dead',
      startedAt: worker.startedAt,
      renewedAt: worker.leaseEndsAt - worker.leaseMs,
      leaseExpiresAt: worker.leaseEndsAt,
      definitionIds: worker.definitions,
      workflows: worker.definitions
        .flatMap((id) => rows.definitions.get(id) ?? [])
        .map(({ name, version }) => ({ name, version }))
        .sort((one, other) => (one.name < other.name ? -1 : 1) || one.version - other.version),
    }))
}
