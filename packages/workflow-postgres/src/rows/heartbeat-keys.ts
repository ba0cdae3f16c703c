import { HEARTBEAT_MARK } from '@belay/workflow/adapter'

/** Whether a value's key is that of the details of a heartbeat. */
export function isHeartbeatKey(key: string): string {
  return `left(${key}, 1) = chr(${HEARTBEAT_MARK.charCodeAt(0)})`
}
