import { type DeclaredSchedule, define, RetryLaterError, unchecked } from '@belay/workflow'
import type { FlowRules } from '../oracle/rules.ts'
import { drawn } from '../random.ts'
import { SIGHTINGS } from './features.ts'
import type { Hands } from './hands.ts'
import type { Input } from './input.ts'
import { RETRY } from './retry.ts'

/** Few enough that runs wait for each other. */
const ERRANDS_MAX = 3
const COUNTERS_MAX = 2
const COURIERS_MAX = 4
const DESK = { limit: 2, perMs: 1_000, burst: 1 } as const
const CUSTOMERS = 3
/** Fewer, so that calls meet. */
const DOCUMENTS = 2

/** Whose limit it is. */
function customerOf({ input }: { readonly input: Input }): string {
  return `customer ${input.seed % CUSTOMERS}`
}

/** A run, steps and a rate with limits, in total and by key; some attempts push the rate back. */
function errand(hands: Hands) {
  return define('errand', {
    ...{ version: 1, input: unchecked<Input>(), retry: RETRY, priority: 5 },
    concurrency: { limit: ERRANDS_MAX, key: customerOf },
  })
    .step('pickUp', {
      concurrency: [
        { name: 'counter', limit: COUNTERS_MAX, key: customerOf },
        { name: 'courier', limit: COURIERS_MAX },
      ],
      ...hands.deed,
    })
    .step('inform', {
      dependsOn: ['pickUp'],
      priority: 10,
      rateLimit: { name: 'desk', limit: DESK.limit, per: DESK.perMs, burst: DESK.burst },
      compensateOn: 'started',
      run: (call) =>
        hands.effect(call, false, async () => {
          if (call.attempt > 1 || drawn(call.input.seed, 'the desk is busy') > 0.4) return
          await hands.see(SIGHTINGS.pushedBack, call.runId)
          throw new RetryLaterError({ after: '300ms', limit: 'desk' })
        }),
      compensate: (call) => hands.effect(call, true),
    })
    .step('bring', {
      dependsOn: ['inform'],
      concurrency: { name: 'courier', limit: COURIERS_MAX },
      ...hands.deed,
    })
    .step('finish', { dependsOn: ['bring'], run: (call) => hands.failIfAsked(call) })
}

/** Workflows under limits, with collected starts, and of schedules. */
export function flow(hands: Hands) {
  const collecting = { version: 1, input: unchecked<Input>(), retry: RETRY } as const
  const key = ({ input }: { readonly input: Input }) => `document ${input.seed % DOCUMENTS}`
  return {
    errand: errand(hands),
    edits: define('edits', { ...collecting, start: { debounce: '700ms', max: '3s', key } }).step('edit', {
      run: (call) => hands.effect(call),
    }),
    notices: define('notices', { ...collecting, start: { throttle: '2s', key } }).step('notice', {
      run: (call) => hands.effect(call),
    }),
    rows: define('rows', { ...collecting, start: { batch: { max: 5, within: '1s' } } }).step('row', {
      run: ({ input, ...call }) => hands.effect({ ...call, input: input[0]! }),
    }),
    tick: define('tick', { version: 1, retry: RETRY, input: unchecked<Input>() }).step('tick', hands.deed),
  }
}

export type Flow = ReturnType<typeof flow>

/** What a firing is given: its handler takes a while, so that the next firing may meet it. */
const TICK: Input = {
  ...{ seed: 1, lot: 0, fails: false, parks: false, slow: false, from: 0, to: 1, cents: 1, handlerMs: 250 },
}

export const EACH_SECOND = 'tick 0'
/** Schedules whose runs are never live at the same time. */
const ONE_AT_A_TIME = ['queued', 'skipping']
export const SCHEDULES = [EACH_SECOND, ...ONE_AT_A_TIME, 'replacing'] as const

/** The schedules that every worker declares. */
export function schedulesOf({ tick }: Pick<Flow, 'tick'>): readonly DeclaredSchedule[] {
  const each = (name: string, cron: string) => ({ name, cron, workflow: tick, input: TICK })
  return [
    { ...each(EACH_SECOND, '* * * * * *'), overlap: 'allow', catchUp: 'all' },
    { ...each('queued', '*/2 * * * * *'), overlap: 'queue' },
    { ...each('skipping', '*/2 * * * * *'), overlap: 'skip' },
    // Its handler takes a little longer than a second.
    { ...each('replacing', '* * * * * *'), overlap: 'cancel-running', input: { ...TICK, handlerMs: 4_500 } },
  ]
}

/** What the oracle knows of all this. */
export const FLOW_RULES: FlowRules = {
  slots: [
    {
      limit: 'counter',
      most: COUNTERS_MAX,
      workflow: 'errand',
      steps: ['pickUp'],
      of: 'call',
      key: customer,
    },
    {
      limit: 'courier',
      most: COURIERS_MAX,
      workflow: 'errand',
      steps: ['pickUp', 'bring'],
      of: 'call',
      key: () => '',
    },
    {
      limit: 'errand',
      most: ERRANDS_MAX,
      workflow: 'errand',
      steps: ['pickUp', 'inform', 'bring'],
      of: 'run',
      key: customer,
    },
  ],
  rates: [{ name: 'desk', ...DESK }],
  collecting: { edits: 'one', notices: 'one', rows: 'all' },
  ticking: 'tick',
  eachSecond: EACH_SECOND,
  oneAtATime: ONE_AT_A_TIME,
}

function customer(input: unknown): string {
  return customerOf({ input: input as Input })
}
