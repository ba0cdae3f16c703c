import type { BelayErrorCode } from '../../error-codes.ts'
import { BelayError, type ErrorContext } from '../../errors.ts'
import { storableCut } from '../../storable-text.ts'

const STACK_MAX_CHARS = 2_000
const FRAMES_MAX = 10

/** The upper frames of an error's stack, without the name and message before them. Undefined if they cannot be read. */
export function framesOf(thrown: {
  readonly message: unknown
  readonly stack?: unknown
}): string | undefined {
  try {
    const { stack } = thrown
    if (typeof stack !== 'string') return undefined
    // A message may have several lines, of which one may look like a frame.
    const message = String(thrown.message)
    const after = stack.includes(message) ? stack.indexOf(message) + message.length : 0
    const frames = stack
      .slice(after)
      .split('\n')
      .filter((line) => FRAME.test(line))
    const entry = frames.findIndex((line) => ENTRY.test(line))
    const upper = frames.slice(0, entry < 0 ? FRAMES_MAX : Math.min(entry, FRAMES_MAX))
    const text = upper.join('\n')
    if (text === '') return undefined
    return storableCut(text, STACK_MAX_CHARS)
  } catch {
    return undefined
  }
}

/** A line of a stack: in V8 with `at`, in other engines with the function's name and an `@`. */
const FRAME = /^\s+at |@.*:\d+:\d+$/

/** Where the engine called the handler (`belayCallsHandler()`), or began the attempt: what comes below is the engine's. */
const ENTRY = /\bbelayCallsHandler\b| Attempt\.(?:perform|#begin) /

/** The error of an attempt that no code of the user has thrown: no stack would say anything. */
export function attemptError(code: BelayErrorCode, message: string, context: ErrorContext): BelayError {
  return withoutStack(new BelayError(code, message, context))
}

/** Shortens an error's stack to its name and message. */
export function withoutStack<E extends Error>(error: E): E {
  error.stack = `${error.name}: ${error.message}`
  return error
}
