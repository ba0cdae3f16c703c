import type { Adapter } from '@belay/workflow/adapter'
import type { Pool } from 'pg'

/** Breaks one mechanism of a store. */
export interface Sabotage {
  readonly what: string
  /** What the oracle says of it. */
  readonly seen: RegExp
  /** It needs a database of its own. */
  readonly isAlone?: true
  readonly verbs: (store: Adapter, broken: { readonly pool: Pool; readonly name: string }) => Partial<Adapter>
}

/** A store of which some verbs are replaced. */
export function sabotaged(store: Adapter, verbs: Partial<Adapter>): Adapter {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(verbs, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

export const SABOTAGES: readonly Sabotage[] = [
  {
    what: 'grants slots that are taken',
    seen: /The limit .* was exceeded/,
    verbs: (store) => ({
      settle: (settlement) =>
        store.settle({
          ...settlement,
          outcomes: settlement.outcomes.map((outcome) =>
            outcome.type === 'enters'
              ? { ...outcome, entries: outcome.entries.map((entry) => ({ ...entry, key: outcome.runId })) }
              : outcome,
          ),
        }),
    }),
  },
  {
    what: 'frees slots that are held',
    seen: /The limit .* was exceeded/,
    verbs: (store, { pool, name }) => ({
      async settle(settlement) {
        const settled = await store.settle(settlement)
        for (const table of ['slots', 'keys'])
          await pool.query(`delete from belay.workflow_limit_${table} where limit_name like $1 || '-%'`, [
            name,
          ])
        return settled
      },
    }),
  },
  {
    what: 'records a firing without starting its run',
    isAlone: true,
    seen: /The run .* of a firing does not exist/,
    verbs: (store) => ({
      changeSchedules: (request, options) =>
        store.changeSchedules(
          {
            ...request,
            decide(found) {
              const { change, answer } = request.decide(found)
              const isTime = change?.firings.some(({ cause }) => cause === 'time') === true
              return { change: isTime ? { ...change, starts: [] } : change, answer }
            },
          },
          options,
        ),
    }),
  },
  {
    what: 'starts two runs for a firing',
    seen: /Run .* has no firing/,
    verbs: (store) => ({
      changeSchedules: (request, options) =>
        store.changeSchedules(
          {
            ...request,
            decide(found) {
              const { change, answer } = request.decide(found)
              if (change === null) return { change, answer }
              const others = change.starts.map((run) => ({ ...run, runId: otherId(run.runId), key: null }))
              return { change: { ...change, starts: [...change.starts, ...others] }, answer }
            },
          },
          options,
        ),
    }),
  },
  {
    what: 'fires no time',
    isAlone: true,
    seen: /0 times fired/,
    verbs: (store) => ({
      changeSchedules: (request, options) =>
        store.changeSchedules(
          {
            ...request,
            decide(found) {
              const { change, answer } = request.decide(found)
              const isTime = change?.firings.some(({ cause }) => cause === 'time') === true
              return { change: isTime ? { ...change, firings: [], starts: [] } : change, answer }
            },
          },
          options,
        ),
    }),
  },
  {
    what: 'forgets a collected call',
    seen: /The store has 3 calls of rows/,
    verbs: (store) => ({
      async collectCalls(calls, options) {
        const last = calls.findLastIndex(({ workflow }) => workflow.endsWith('-rows'))
        const kept = await store.collectCalls(
          calls.filter((_, index) => index !== last),
          options,
        )
        if (last === -1) return kept
        return [...kept.slice(0, last), kept[last - 1]!, ...kept.slice(last)]
      },
    }),
  },
  {
    what: 'counts a collected call twice',
    seen: /The store has 8 calls of rows/,
    verbs: (store) => ({
      async collectCalls(calls, options) {
        const twice = calls.map((call) => ({
          ...call,
          runId: otherId(call.runId),
          callId: otherId(call.callId),
        }))
        const collected = await store.collectCalls([...calls, ...twice], options)
        return collected.slice(0, calls.length)
      },
    }),
  },
]

function otherId(id: string): string {
  return `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`
}
