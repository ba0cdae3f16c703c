import type { Adapter, RunStatus } from '@belay/workflow/adapter'
import { describe, expect, test } from 'vitest'
import { compareAdapters, type Harness, memoryHarness } from '../../src/conformance/index.ts'

const STEPS = 500

describe('differential test', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('two memory stores agree on seed %i', async (seed) => {
    await expect(compareAdapters(seed, memoryHarness(), memoryHarness(), STEPS)).resolves.toBeUndefined()
  })

  test('its commands bring runs to every end, and leave some unfinished', async () => {
    const reached = new Set<RunStatus>()
    // Seeds for which this holds. If the generator changes, others may have to be found.
    for (const seed of [9, 13, 14, 25]) {
      const watched = altered((adapter) => ({
        // `prune` is called last.
        prune: async (request) => {
          for (const { status } of await adapter.listRuns({ limit: 1_000 })) reached.add(status)
          return adapter.prune(request)
        },
      }))
      await compareAdapters(seed, watched, memoryHarness(), STEPS)
    }
    expect([...reached].sort()).toEqual([
      'cancelled',
      'compensated',
      'compensating',
      'compensation_failed',
      'completed',
      'failed',
      'parked',
      'paused',
      'running',
      'scheduled',
      'waiting',
    ])
  })

  test.each(Object.entries(breakages()))('finds an adapter that %s', async (_, broken) => {
    // Not every defect shows with every seed, but each must show with one of a few.
    const compare = async () => {
      for (let seed = 1; seed <= 9; seed += 1) {
        await compareAdapters(seed, memoryHarness(), broken(), STEPS)
      }
    }
    await expect(compare()).rejects.toThrow(/differ in .*seed \d\.\n.*\n.*\nCommands that may concern it:/)
  })

  test('names the seed, the difference and the commands about the run in question', async () => {
    const broken = breakages()['forgets a failure']!()

    const error = await compareAdapters(7, memoryHarness(), broken, STEPS).catch((reason: unknown) => reason)

    const message = String(error)
    const runId = /the rows of run (\S+), after command (\d+) of seed 7/.exec(message)?.[1]
    expect(runId).toBeDefined()
    expect(message).toContain('"failures":1')
    expect(message).toMatch(new RegExp(`\\d+\\. {"do":"(start|within)".*${runId}`))
    expect(message).toMatch(new RegExp(`\\d+\\. {"do":"settle".*${runId}.*"type":"retry"`))
  })
})

/** Adapters with one defect each. */
function breakages(): Readonly<Record<string, () => Harness>> {
  return {
    'lets any attempt settle': () =>
      altered((adapter) => ({
        settle: async (settlement) => {
          const outcomes = []
          for (const outcome of settlement.outcomes) {
            const read = await adapter.readRun(outcome.runId)
            outcomes.push({ ...outcome, fence: read!.steps[outcome.step]!.fence })
          }
          return adapter.settle({ ...settlement, outcomes })
        },
      })),
    'forgets a failure': () =>
      altered((adapter) => ({
        settle: (settlement) =>
          adapter.settle({
            ...settlement,
            outcomes: settlement.outcomes.map((outcome) =>
              outcome.type === 'retry' ? { ...outcome, type: 'released' as const } : outcome,
            ),
          }),
      })),
    'claims nothing of its last definition': () =>
      altered((adapter) => ({
        claim: (request) => adapter.claim({ ...request, definitionIds: request.definitionIds.slice(0, -1) }),
      })),
    'never declares a worker dead': () =>
      altered(() => ({ sweep: async () => ({ lostWorkers: [], recovered: [], more: false }) })),
    'ends every undo at once': () =>
      altered((adapter) => ({
        beginUndo: (plans) => adapter.beginUndo(plans.map((plan) => ({ ...plan, undos: [] }))),
      })),
    'forgets signals': () =>
      altered(() => ({
        deliverSignals: async (signals) => signals.map(() => ({ result: 'kept' as const })),
      })),
    'finds no approvals': () =>
      altered(() => ({ findApprovals: async () => ({ approvals: [], cursor: null, more: false }) })),
    'lets every deadline pass': () => altered(() => ({ expireRuns: async () => [] })),
    'wakes waiting steps at once': () =>
      altered((adapter) => ({
        settle: (settlement) =>
          adapter.settle({
            ...settlement,
            outcomes: settlement.outcomes.map((outcome) =>
              outcome.type === 'waiting' ? { ...outcome, wake: { afterMs: 0 } } : outcome,
            ),
          }),
      })),
    'keeps the history of pruned runs': () =>
      altered((adapter) => {
        const past = new Map<string, Awaited<ReturnType<typeof adapter.readHistory>>>()
        return {
          prune: async (request) => {
            for (const runId of request.runIds) {
              past.set(runId, await adapter.readHistory({ runId, limit: 10 }))
            }
            return adapter.prune(request)
          },
          readHistory: async (request) => past.get(request.runId) ?? adapter.readHistory(request),
        }
      }),
    'counts a call that is sent twice': () =>
      altered((adapter) => {
        let calls = 0
        const fresh = () => {
          calls += 1
          return `01910000-0000-7000-8000-${String(calls).padStart(12, '0')}`
        }
        return {
          collectCalls: (given, options) =>
            adapter.collectCalls(
              given.map((call) => ({ ...call, callId: fresh() })),
              options,
            ),
        }
      }),
    'throws sometimes': () =>
      altered((adapter) => {
        let loads = 0
        return {
          load: async (requests) => {
            loads += 1
            if (loads === 2) throw new Error('gone')
            return adapter.load(requests)
          },
        }
      }),
  }
}

function altered(alter: (adapter: Adapter) => Partial<Adapter>): Harness {
  const harness = memoryHarness()
  const changes = alter(harness.adapter)
  const adapter = new Proxy(harness.adapter, {
    get: (target, property) => {
      const value: unknown = Reflect.get(changes, property) ?? Reflect.get(target, property)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { ...harness, adapter }
}
