/**
 * User code may throw anything, even a revoked Proxy or an object whose getters throw. Thrown values are read only through these functions, so that
 * such a value fails its step and not the process.
 */

/** The thrown value, or an error that replaces it if reading the value would throw. */
export function presentable(thrown: unknown): unknown {
  if (thrown === null || (typeof thrown !== 'object' && typeof thrown !== 'function')) return thrown
  try {
    for (const name of READ_OF_ERRORS) Reflect.get(thrown, name)
    return thrown
  } catch {
    return new Error(unshowable(thrown))
  }
}

/** The properties that are read of a thrown value, besides its JSON form. Not its stack, which is expensive to create. */
const READ_OF_ERRORS = ['name', 'message', 'code', 'cause', 'errors', 'afterMs'] as const

/** Whether a value can be told as an error, whatever made it: another realm, a library, JSON. May throw what reading it throws. */
export function isErrorLike(value: unknown): value is { readonly name: string; readonly message: string } {
  if (value === null || typeof value !== 'object') return false
  const { name, message } = value as { readonly name?: unknown; readonly message?: unknown }
  return typeof name === 'string' && typeof message === 'string'
}

/** Whether a value is an error of any realm. It may have an odd name or message. */
export function isErrorOfAnyRealm(value: unknown): value is object {
  const tag = Object.prototype.toString.call(value)
  return tag === '[object Error]' || tag === '[object DOMException]'
}

/** A thrown value's message, or its text. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(isErrorLike(thrown) ? thrown.message : thrown)
  } catch {
    return unshowable(thrown)
  }
}

/** The text for a value that throws when it is read. */
export function unshowable(thrown: unknown): string {
  return `a thrown ${typeof thrown} that cannot be shown`
}
