import { define, PermanentError, unchecked } from '@belay/workflow'
import type { Hands } from './hands.ts'
import type { Input } from './input.ts'
import { planOf } from './plan.ts'
import { RETRY } from './retry.ts'

/** The most parcels of one delivery that are packed at a time. */
export const PACKED_AT_ONCE_MAX = 2
/** How many quotes a checkout asks for, one after the other. */
export const QUOTES = 2
const HEARTBEAT_TIMEOUT_MS = 1_000

interface Children {
  readonly delivery: ReturnType<typeof delivery>
  readonly quote: ReturnType<typeof quote>
  readonly newsletter: ReturnType<typeof newsletter>
}

/** A step with heartbeats, a fallback, an attached and a detached child, a child in each round of a loop, a pivot, and end steps. */
export function checkout(hands: Hands, children: Children) {
  const end = hands.endStep
  return untilPaid(hands)
    .repeat('quotes', children.quote, {
      dependsOn: ['render'],
      input: ({ input, round }) => ({ ...childInput(input), seed: input.seed + round }),
      until: ({ round }) => round === QUOTES,
    })
    .workflow('deliver', children.delivery, {
      dependsOn: ['quotes', 'charge', 'invoice'],
      onSkipped: 'run',
      input: ({ input }) => childInput(input),
    })
    .workflow('subscribe', children.newsletter, {
      dependsOn: ['claim'],
      detached: true,
      input: ({ input }) => childInput(input),
    })
    .step('capture', {
      dependsOn: ['deliver', 'subscribe'],
      pivot: true,
      compensateOn: 'started',
      run: (call) => hands.effectUnlessFailing(call),
      compensate: (call) => hands.effect(call, true),
    })
    .step('record', { dependsOn: ['capture'], run: (call) => hands.recordUnlessBroken(call) })
    .step('thank', {
      dependsOn: ['charge', 'deliver', 'capture', 'record'],
      onSkipped: 'run',
      run: async (call) => {
        const { charge, deliver } = call.deps
        await hands.effect(call)
        return hands.published(call, {
          paid: charge?.status === 'completed' ? 'by card' : 'by invoice',
          delivered: deliver?.handOver,
        })
      },
    })
    .onCompleted('receipt', { run: end })
    .onCompensated('regret', { run: end })
    .finally('archive', { run: end })
}

function untilPaid(hands: Hands) {
  return define('checkout', { version: 1, input: unchecked<Input>(), retry: RETRY })
    .step('claim', {
      compensateOn: 'started',
      run: (call) => hands.effect(call),
      compensate: (call) => hands.undoUnlessParked(call),
    })
    .step('render', {
      dependsOn: ['claim'],
      heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
      compensateOn: 'started',
      run: (call) => hands.effectWithHeartbeats(call),
      compensate: (call) => hands.effect(call, true),
    })
    .step('charge', {
      dependsOn: ['claim'],
      onFailure: 'continue',
      compensateOn: 'started',
      run: (call) => hands.effectUnlessDeclined(call),
      compensate: (call) => hands.effect(call, true),
    })
    .step('invoice', { ...hands.deed, when: { charge: 'failed' } })
}

/** A child with a map of its own. Some deliveries fail, and are undone with their parent. */
export function delivery(hands: Hands) {
  return define('delivery', { version: 1, input: unchecked<Input>(), retry: RETRY })
    .step('label', hands.deed)
    .map('parcel', {
      dependsOn: ['label'],
      over: ({ input }) => Array.from({ length: planOf(input).parcels }, (_, index) => index),
      concurrency: PACKED_AT_ONCE_MAX,
      compensateOn: 'started',
      run: async (call) => {
        await hands.effect(call)
        return `parcel ${call.item}`
      },
      compensate: (call) => hands.effect(call, true),
    })
    .step('handOver', {
      dependsOn: ['parcel'],
      run: ({ input, deps }) => {
        if (planOf(input).returns) throw new PermanentError('The delivery was returned.')
        return deps.parcel
      },
    })
    .finally('tidy', { run: hands.endStep })
}

/** The child of a round. */
export function quote(hands: Hands) {
  return define('quote', { version: 1, input: unchecked<Input>(), retry: RETRY }).step('offer', hands.deed)
}

/** A child for which nobody waits, and which stays whatever happens to its parent. */
export function newsletter(hands: Hands) {
  return define('newsletter', { version: 1, input: unchecked<Input>(), retry: RETRY }).step('enrol', {
    run: (call) => hands.effect(call),
  })
}

/** Chance decides otherwise in a child than in its parent. */
function childInput(input: Input): Input {
  return { ...input, seed: input.seed + 1, fails: false, parks: false }
}
