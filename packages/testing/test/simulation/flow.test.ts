import type { Adapter, Outcome } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { simulate } from '../../src/simulation/index.ts'
import { violationsLike, withVerbs } from './sabotage.ts'

/** Seeds whose worlds have rates, limits of runs, schedules and collected starts: the last digit decides. */
const [RATES, RUNS, SCHEDULES, COLLECTED] = [10, 6, 5, 13]

const SCHEDULE_OPERATIONS = [
  'put a schedule',
  'trigger a schedule',
  'pause a schedule',
  'resume a schedule',
  'read schedules',
]

describe('worlds with flow control', () => {
  it('have schedules, with every action that operators take on them', async () => {
    const calls = new Set<string>()
    for (const seed of [SCHEDULES, 15, 25])
      for (const call of Object.keys((await simulate({ seed })).calls)) calls.add(call)
    const wanted = ['changeSchedules', 'readSchedules', 'readFirings']
    expect([...calls]).toEqual(
      expect.arrayContaining([...wanted, ...SCHEDULE_OPERATIONS.map((name) => `operator: ${name}`)]),
    )
  })

  it('have limits and rates that are entered, set and pushed back', async () => {
    const calls = new Set<string>()
    for (const seed of [RATES, RUNS])
      for (const call of Object.keys((await simulate({ seed })).calls)) calls.add(call)
    expect([...calls]).toEqual(
      expect.arrayContaining(['outcome: enters', 'setLimit', 'pushBackLimits', 'tendLimits']),
    )
  })
})

describe('the oracle notices a store', () => {
  /** Sabotages a store and expects the violation. */
  const itNotices = (
    defect: string,
    {
      wanted,
      likely,
      broken,
    }: { wanted: RegExp; likely: number; broken: (store: Adapter) => Partial<Adapter> },
  ) =>
    it(defect, async () => {
      const found = await violationsLike(wanted, likely, (store) => withVerbs(store, broken(store)))
      expect(found.join()).toMatch(wanted)
    })

  itNotices('that gives more slots than a limit has', {
    wanted: /has \d+ slots taken of 2/,
    likely: RUNS,
    broken: (store) => ({
      declareLimits: (limits) =>
        store.declareLimits(
          limits.map((limit) => (limit.rate == null ? { ...limit, concurrency: 5 } : limit)),
        ),
    }),
  })

  itNotices('that lets attempts begin without a slot', {
    wanted: /runs without a slot of limit/,
    likely: RUNS,
    broken: (store) => ({
      settle: (settlement) =>
        store.settle({ ...settlement, outcomes: settlement.outcomes.map(entersNothing) }),
    }),
  })

  itNotices('that loses the slots of runs which have ended', {
    wanted: /slots are taken although nothing runs|is stuck in/,
    likely: RUNS,
    broken: (store) => ({
      settle: (settlement) => store.settle({ ...settlement, frees: [] }),
      tendLimits: async () => ({ queued: false, after: null }),
    }),
  })

  itNotices('that lets attempts begin faster than their rate', {
    wanted: /\d+ entered \S+ of \S* ?within \d+ ms/,
    likely: RATES,
    broken: (store) => ({
      declareLimits: (limits) =>
        store.declareLimits(
          limits.map((limit) =>
            limit.rate == null ? limit : { ...limit, concurrency: 50 * limit.concurrency },
          ),
        ),
    }),
  })

  itNotices('that ignores what pushes a limit back', {
    wanted: /although it was pushed back/,
    likely: RATES,
    broken: () => ({ pushBackLimits: async () => {} }),
  })

  itNotices('that forgets with which priority a run was started', {
    wanted: /has priority \S+, and was started with \d/,
    likely: RATES,
    broken: (store) => ({
      startRuns: (runs, options) =>
        store.startRuns(
          runs.map((run) => ({ ...run, priority: undefined })),
          options,
        ),
    }),
  })

  itNotices('that claims in another order than that of the queue', {
    wanted: /was claimed, whose place is|a claim began at place/,
    likely: RATES,
    broken: (store) => ({
      async claim(request) {
        for (const id of request.definitionIds.toSorted((one, other) => other - one)) {
          const claimed = await store.claim({ ...request, definitionIds: [id] })
          if (claimed === 'lost' || claimed.claims.length > 0) return claimed
        }
        return { claims: [], more: false }
      },
    }),
  })

  itNotices('that collects calls for longer than they may wait', {
    wanted: /waits until \d+, and its calls until/,
    likely: COLLECTED,
    broken: (store) => ({
      collectCalls: (calls, options) =>
        store.collectCalls(
          calls.map((call) => ({ ...call, policy: { ...call.policy, windowMs: 3 * call.policy.windowMs } })),
          options,
        ),
    }),
  })

  itNotices('that collects more calls than a batch takes', {
    wanted: /took call \d+ of at most/,
    likely: 33,
    broken: (store) => ({
      collectCalls: (calls, options) =>
        store.collectCalls(
          calls.map((call) => ({
            ...call,
            policy: { ...call.policy, callsMax: call.policy.callsMax && 20 },
          })),
          options,
        ),
    }),
  })

  itNotices('that fires a time without its run', {
    wanted: /has a firing for run \S+, which is not there|did not fire for/,
    likely: SCHEDULES,
    broken: (store) => ({
      changeSchedules: (request, options) =>
        store.changeSchedules(
          { ...request, decide: changed(request.decide, (change) => ({ ...change, starts: [] })) },
          options,
        ),
    }),
  })

  itNotices('that fires a time twice', {
    wanted: /has \d firings/,
    likely: SCHEDULES,
    broken: (store) => ({
      changeSchedules: (request, options) =>
        store.changeSchedules({ ...request, decide: changed(request.decide, twice) }, options),
    }),
  })

  itNotices('that forgets which runs of a schedule are live', {
    wanted: /schedule (skipped|queued|replaced) \(\S+\) started run \S+ while/,
    likely: SCHEDULES,
    broken: (store) => ({
      changeSchedules: (request, options) =>
        store.changeSchedules(
          { ...request, decide: (found) => request.decide({ ...found, open: [] }) },
          options,
        ),
    }),
  })

  itNotices('that never looks at schedules', {
    wanted: /was at \d+ when it was paused at|schedule \S+ is gone/,
    likely: SCHEDULES,
    broken: (store) => ({
      changeSchedules: (request, options) =>
        request.skipLocked === true
          ? Promise.resolve({ answers: [], started: [], cancelled: [] })
          : store.changeSchedules(request, options),
    }),
  })
})

type Decide = Parameters<Adapter['changeSchedules']>[0]['decide']
type Change = NonNullable<ReturnType<Decide>['change']>

function changed<D extends Decide>(decide: D, change: (change: Change) => Change): D {
  return ((found) => {
    const decision = decide(found)
    return decision.change === null ? decision : { ...decision, change: change(decision.change) }
  }) as D
}

/** Another run for each, under a key of its own. */
function twice(change: Change): Change {
  const again = change.starts.map((run) => ({
    ...run,
    runId: `${run.runId.slice(0, -4)}0000`,
    key: `${run.key}, again`,
  }))
  return { ...change, starts: [...change.starts, ...again] }
}

function entersNothing(outcome: Outcome): Outcome {
  return outcome.type === 'enters' ? { ...outcome, entries: [] } : outcome
}
