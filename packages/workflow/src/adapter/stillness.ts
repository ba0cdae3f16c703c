/**
 * What a store on a virtual clock knows of its own future. From this, the engine's loops tell the clock which of their looks would find nothing, and
 * the clock leaves those out. All instants are of the store's clock; `Infinity` means never.
 */
export interface Stillness {
  /** The adapter it belongs to. An adapter that wraps another one must not pass on the other's: its own looks may find something else. */
  readonly of: object
  /** Grows with every change that a look could find. Renewing a lease is none. `NaN` while any verb of the adapter is replaced. */
  readonly changes: number
  /** When the first queued step of these definitions, or of any, becomes claimable. In the past if one is claimable. */
  claimableAt(definitionIds?: readonly number[]): number
  /** When the first deadline of a run passes. */
  deadlineAt(): number
  /** When the first schedule is due. */
  scheduleAt(): number
  /** When a sweep would find something first: a lease ends that nobody is sure to renew, or a step is due that has a priority or is an undo. */
  lapsesAt(): number
  /** The lease of this worker is sure to be renewed as long as `isSure()`. */
  trust(workerId: string, isSure: () => boolean): void
}
