import type { Connection } from '../connection/connection.ts'
import { now } from '../workers/read-state.ts'

/**
 * The store's time in whole milliseconds, as schedules are read back. A time that is reckoned from a fraction would not be the one that was stored: the
 * schedule would take it for another one that it has missed.
 */
export async function wholeNow(connection: Connection): Promise<number> {
  return Math.floor(await now(connection))
}
