import type { WorkerRecord } from './upkeep.ts'

/** Tells whether a worker holds an unexpired lease. */
export function holdsLease({ status, leaseExpiresAt }: WorkerRecord, now: number): boolean {
  return status === 'live' && leaseExpiresAt !== null && leaseExpiresAt > now
}
