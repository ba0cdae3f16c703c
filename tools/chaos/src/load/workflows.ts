import { define, unchecked, type WorkflowDefinition } from '@belay/workflow'
import { postgresTransaction } from '@belay/workflow-postgres'
import { checkout, delivery, newsletter, quote } from './checkout.ts'
import { flow } from './flow.ts'
import { gallery } from './gallery.ts'
import { CHARGE_TIMEOUT_MS, type Hands } from './hands.ts'
import type { Input } from './input.ts'
import { RETRY } from './retry.ts'

/** The load: workflows that together use every feature. Their graphs are fixed; only handlers need `hands`. */
export function makeWorkflows(hands: Hands) {
  const children = { delivery: delivery(hands), newsletter: newsletter(hands), quote: quote(hands) }
  return {
    transfer: transfer(hands),
    order1: ordering(hands, 1).step('ship', {
      dependsOn: ['charge'],
      run: (call) => hands.failIfAsked(call),
    }),
    order2: ordering(hands, 2)
      .step('insure', {
        dependsOn: ['charge'],
        run: (call) => hands.effect(call),
        compensate: (call) => hands.effect(call, true),
      })
      .step('ship', { dependsOn: ['insure'], run: (call) => hands.failIfAsked(call) }),
    patient: patient(hands),
    gallery: gallery(hands),
    checkout: checkout(hands, children),
    ...children,
    ...flow(hands),
  }
}

export type Workflows = ReturnType<typeof makeWorkflows>
export type Version = 'v1' | 'both'

/** The workflows that a worker of one release runs. */
export function releaseOf(workflows: Workflows, version: Version): readonly WorkflowDefinition[] {
  const { order2, ...first } = workflows
  return version === 'v1' ? Object.values(first) : Object.values(workflows)
}

/** A chain that moves money. */
function transfer(hands: Hands) {
  const tx = postgresTransaction()
  return define('transfer', { version: 1, input: unchecked<Input>(), retry: RETRY })
    .step('check', { run: (call) => hands.work(call) })
    .step('debit', {
      dependsOn: ['check'],
      transaction: tx,
      run: (call) => hands.entry(call, call.input.from, -call.input.cents),
      compensate: { transaction: tx, run: (call) => hands.entry(call, call.input.from, call.input.cents) },
    })
    .step('credit', {
      dependsOn: ['debit'],
      transaction: tx,
      run: (call) => hands.entry(call, call.input.to, call.input.cents),
      compensate: { transaction: tx, run: (call) => hands.entry(call, call.input.to, -call.input.cents) },
    })
    .step('confirm', {
      dependsOn: ['credit'],
      compensateOn: 'started',
      run: (call) => hands.effect(call),
      compensate: (call) => hands.effect(call, true),
    })
    .step('finish', { dependsOn: ['confirm'], run: (call) => hands.failIfAsked(call) })
}

/** A fan of effects between two more; one of them may time out. */
function ordering(hands: Hands, version: 1 | 2) {
  const packing = {
    dependsOn: ['reserve'],
    compensateOn: 'started',
    run: (call: Parameters<Hands['effect']>[0]) => hands.effect(call),
    compensate: (call: Parameters<Hands['effect']>[0]) => hands.effect(call, true),
  } as const
  return define('order', { version, input: unchecked<Input>(), retry: RETRY })
    .step('reserve', {
      compensateOn: 'started',
      run: (call) => hands.effect(call),
      compensate: (call) => hands.undoUnlessParked(call),
    })
    .step('pack1', packing)
    .step('pack2', packing)
    .step('pack3', packing)
    .step('charge', {
      dependsOn: ['pack1', 'pack2', 'pack3'],
      timeout: CHARGE_TIMEOUT_MS,
      compensateOn: 'started',
      run: (call) => hands.slowEffect(call),
      compensate: { run: (call) => hands.effect(call, true), timeout: false },
    })
}

/** All kinds of waits. */
function patient(hands: Hands) {
  return define('patient', { version: 1, input: unchecked<Input>(), retry: RETRY })
    .step('book', {
      run: (call) => hands.effect(call),
      compensateOn: 'started',
      compensate: (call) => hands.effect(call, true),
    })
    .sleep('coolOff', { dependsOn: ['book'], for: ({ input }) => input.seed % 900 })
    .waitForSignal('paid', {
      dependsOn: ['coolOff'],
      schema: unchecked<{ nonce: string }>(),
      timeout: '4s',
      onTimeout: { output: { nonce: 'none' } },
    })
    .approval('manager', { dependsOn: ['paid'], timeout: '4s', onTimeout: { output: { approved: false } } })
    .poll('delivered', {
      dependsOn: ['manager'],
      every: '150ms',
      until: (call) => hands.look(call),
      timeout: '10s',
    })
    .step('settle', {
      dependsOn: ['delivered'],
      run: (call) => hands.effect(call),
      compensateOn: 'started',
      compensate: (call) => hands.effect(call, true),
    })
    .step('finish', { dependsOn: ['settle'], run: (call) => hands.failIfAsked(call) })
}
