import { BelayError, StoreUnavailableError, sentence } from '@belay/workflow/adapter'
import { codeOf, isConflict, READ_ONLY } from '../base/errors.ts'
import { outageRemedy } from '../base/remedies.ts'

/** Turns PGlite's errors into Belay's, where Belay knows a remedy. All others are returned unchanged. */
export function classified(error: unknown): unknown {
  if (BelayError.is(error) || isConflict(error)) return error
  const code = codeOf(error)
  if (code === null || !/^(53|58|57P)/.test(code)) return error
  return unavailable('PGlite cannot go on', messageOf(error), error)
}

/** The error for a place that PGlite cannot open. */
export function notOpened(place: string | undefined, cause: unknown): BelayError {
  const what = `PGlite cannot open ${place ?? 'a database in memory'}`
  if (isOutOfSpace(cause)) {
    return unavailable(
      what,
      'No space left on device.',
      cause,
      ' If this was the first time that it was opened, delete the directory then.',
    )
  }
  return new BelayError('store_misconfigured', `${what}: ${sentence(messageOf(cause))}`, {
    remedy: 'A directory must be writable, and be empty or hold a database that this version of PGlite made.',
    cause,
  })
}

function unavailable(what: string, message: string, cause: unknown, more = ''): StoreUnavailableError {
  const remedy = outageRemedy(isOutOfSpace(cause) ? '53100' : codeOf(cause))
  return new StoreUnavailableError(`${what}: ${sentence(message)}`, { remedy: `${remedy}${more}`, cause })
}

// The number that PGlite's own C library has for ENOSPC; its file system throws objects that are no errors.
const OUT_OF_SPACE = 51

function isOutOfSpace(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  return codeOf(error) === 'ENOSPC' || ('errno' in error && error.errno === OUT_OF_SPACE)
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message
  if (typeof error === 'object' && error !== null && 'errno' in error) {
    return `its file system reports error ${String(error.errno)}.`
  }
  return String(error)
}

export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === READ_ONLY
}
