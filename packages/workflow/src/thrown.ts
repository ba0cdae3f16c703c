/**
 * What user code throws may be anything: also a revoked Proxy, or an object whose getters throw. Whoever looks at a thrown value looks
 * through these functions, so that a hostile one fails its step and not the process.
 */

/** The value as it is; or an error that stands in for it, when looking at it would throw. */
export function presentable(thrown: unknown): unknown {
  if (thrown === null || (typeof thrown !== 'object' && typeof thrown !== 'function')) return thrown
  try {
    for (const name of READ_OF_ERRORS) Reflect.get(thrown, name)
    return thrown instanceof Error ? thrown : Object(thrown)
  } catch {
    return new Error(unshowable(thrown))
  }
}

/** All that is ever read of a thrown value, its JSON form apart. Not its stack: nobody reads it, and it costs something to make. */
const READ_OF_ERRORS = ['name', 'message', 'code', 'cause', 'afterMs'] as const

/** A thrown value's message, or its text. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return unshowable(thrown)
  }
}

/** The sentence for what cannot be looked at. */
export function unshowable(thrown: unknown): string {
  return `a thrown ${typeof thrown} that cannot be shown`
}
