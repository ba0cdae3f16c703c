import { codeOf, isUnavailable } from '../base/errors.ts'

/**
 * What an error of a statement in a step's transaction says about the store. `failed`: the store refuses such statements for reasons of its own and
 * has said so: its disk or memory is exhausted, it shuts down, an administrator ended the session, it takes no writes. `lost`: the connection is
 * gone, perhaps because of the statement itself. Null: an error of the statement.
 */
export type StoreFailure = 'failed' | 'lost' | null

// Not 53400: a limit that an administrator has set for every statement, such as temp_file_limit, is exceeded again by the same statement.
const FAILED = /^(25006|53[0-3]\d\d|57P0[1-5]|58\d\d\d)$/

/** Of the limits that a handler, or its role, has for its own statements. They end its transaction, and are its own failure. */
const OWN_LIMITS: ReadonlySet<string> = new Set(['53400', '57014', '25P03', '25P04'])

export function storeFailureOf(error: unknown): StoreFailure {
  const code = codeOf(error)
  if (code !== null && FAILED.test(code)) return 'failed'
  if (code !== null && OWN_LIMITS.has(code)) return null
  return isUnavailable(error) && !isOwnTimeout(error) ? 'lost' : null
}

// pg's message for the limit that a handler may give its own query.
function isOwnTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}
