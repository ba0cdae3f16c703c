import { define, unchecked } from '@belay/workflow'
import { pause } from './pause.ts'

export interface Parcel {
  readonly order: string
}

const parcelBack = (version: number) =>
  define('return-parcel', { version, input: unchecked<Parcel>() })
    .step('sendLabel', { run: ({ signal }) => pause(400, signal), compensate: () => {} })
    .waitForSignal('parcelArrived', { dependsOn: ['sendLabel'], timeout: '14d' })

/** Returned parcels that are on their way follow this one, until somebody moves them. */
export const returnParcel = parcelBack(1).step('refund', {
  dependsOn: ['parcelArrived'],
  run: ({ signal }) => pause(600, signal),
})

/** Since then each is looked at before the money goes back. */
export const returnParcelInspected = parcelBack(2)
  .step('inspect', { dependsOn: ['parcelArrived'], run: ({ signal }) => pause(900, signal) })
  .step('refund', { dependsOn: ['inspect'], run: ({ signal }) => pause(600, signal) })

const CUSTOMERS = ['acme', 'acme', 'acme', 'acme', 'acme', 'bolt', 'bolt', 'bolt', 'crate']

/** The mail server of a customer takes two letters at once: the others stand in its line. */
export const sendInvoices = define('send-invoices', { version: 1 }).map('sendInvoice', {
  over: () => CUSTOMERS,
  concurrency: { name: 'mail', limit: 2, key: ({ item }) => item },
  run: ({ signal }) => pause(9_000, signal),
})
