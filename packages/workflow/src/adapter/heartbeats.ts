import type { Claim } from './records.ts'

/**
 * The first character of the keys under which steps keep the details of their heartbeats among the values of the run. Keys of published values never
 * begin with it. Readers of values, and the limit on keys, leave these keys out.
 */
export const HEARTBEAT_MARK = '\u0001'

/** The key for the heartbeats of one round and direction of a step: only its next attempts read them. */
export function heartbeatKey({ direction, round }: Pick<Claim, 'direction' | 'round'>): string {
  return `${HEARTBEAT_MARK}${direction}:${round}`
}

/** Whether a value is the details of a heartbeat. */
export function isHeartbeat(key: string | null): boolean {
  return key?.startsWith(HEARTBEAT_MARK) === true
}

/** Which heartbeat to read. */
export interface HeartbeatRequest {
  readonly step: number
  readonly key: string
}

/** The details of a heartbeat, as JSON text. */
export interface HeartbeatRecord extends HeartbeatRequest {
  readonly value: string
}
