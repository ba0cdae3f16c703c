import { setTimeout as pause } from 'node:timers/promises'
import { define, unchecked } from '@belay/workflow'
import type pg from 'pg'
import { noted } from './ledger.ts'

export const CUSTOMER_MAX = 1
export const PARTNER_MAX = 8
export const IMPORTS_MAX = 2
export const RATE = { limit: 200, per: '1s', perMs: 1_000 } as const

export interface Input {
  readonly customer: string
  readonly workMs: number
}

/** What limits a call of each handler: pairs of a limit's name in the ledger and a key. */
export interface Hands {
  readonly pool: pg.Pool
  readonly worker: string
}

/**
 * The workflows of the load. An order takes one of its customer's turns, then one of the partner's places, then is one of so many a second; a report
 * shares the partner's places; an import is a run of two steps of which so many go on for one customer at once.
 */
export function makeWorkflows({ pool, worker }: Hands) {
  const note = (runId: string, limits: readonly (readonly [string, string])[], { workMs }: Input) =>
    noted(pool, { worker, runId, limits }, () => pause(workMs))
  const orders = define('order', { version: 1, input: unchecked<Input>() })
    .step('prepare', {
      concurrency: { limit: CUSTOMER_MAX, key: ({ input }) => input.customer },
      run: ({ runId, input }) => note(runId, [['customer', input.customer]], input),
    })
    .step('send', {
      dependsOn: ['prepare'],
      concurrency: { name: 'partner', limit: PARTNER_MAX },
      run: ({ runId, input }) => note(runId, [['partner', '']], input),
    })
    .step('tell', {
      dependsOn: ['send'],
      rateLimit: { name: 'mail', limit: RATE.limit, per: RATE.per },
      run: ({ runId, input }) => note(runId, [['mail', '']], input),
    })
  const reports = define('report', { version: 1, input: unchecked<Input>() }).step('send', {
    concurrency: { name: 'partner', limit: PARTNER_MAX },
    run: ({ runId, input }) => note(runId, [['partner', '']], input),
  })
  const imports = define('import', {
    version: 1,
    input: unchecked<Input>(),
    concurrency: { limit: IMPORTS_MAX, key: ({ input }) => input.customer },
  })
    .step('read', { run: ({ runId, input }) => note(runId, [['import', input.customer]], input) })
    .step('write', {
      dependsOn: ['read'],
      run: ({ runId, input }) => note(runId, [['import', input.customer]], input),
    })
  return { orders, reports, imports }
}
