import type { SerialisedError } from '@belay/workflow'
import type { Place } from '../options.ts'

/** How much of errors a viewer sees. Their messages count as payloads: they often quote what a handler was given. */
export interface Texts {
  readonly isShown: boolean
  /** Name and message, or name and code. */
  error(error: ErrorToTell, step?: string): string
  /** A sentence of the engine that may quote these errors, and notes of progress: without them, unless they are shown. */
  sentence(sentence: string, errors: readonly ErrorToTell[]): string
}

type ErrorToTell = Pick<SerialisedError, 'name' | 'message' | 'code'>

export type Redact = (payload: unknown, place: Place) => unknown

export function textsFor(isShown: boolean, redact: Redact | undefined): Texts {
  const error: Texts['error'] = (given, step) => {
    if (!isShown) return withoutMessage(given)
    if (redact === undefined) return `${given.name}: ${given.message}`
    const { name, message, code } = given
    return textOf(redact({ name, message, ...(code === undefined ? {} : { code }) }, { what: 'error', step }))
  }
  const sentence: Texts['sentence'] = (text, errors) => {
    if (isShown && redact === undefined) return text
    // Nothing after a note has parentheses.
    const told = text.replace(/(, and has done [\d.]+(?: of [\d.]+)?) \(.*\)/s, '$1')
    return errors.reduce((hidden, one) => withoutError(hidden, one, error(one)), told)
  }
  return { isShown, error, sentence }
}

/** The forms in which the engine's sentences tell an error: `(Name: message)`, `(message)`, and `: message` at the end. */
function withoutError(sentence: string, given: ErrorToTell, told: string): string {
  const { name, message } = given
  const end = `: ${message}`.trimEnd()
  const hidden = sentence
    .replaceAll(`(${name}: ${message})`, () => `(${told})`)
    .replaceAll(`(${message})`, () => `(${told})`)
  for (const stop of ['', '.']) {
    if (end !== ':' && hidden.endsWith(end + stop)) {
      return `${hidden.slice(0, -(end + stop).length)}: ${told}.`
    }
  }
  return hidden
}

function withoutMessage({ name, code }: ErrorToTell): string {
  return code === undefined ? name : `${name} [${code}]`
}

function textOf(redacted: unknown): string {
  if (typeof redacted === 'string') return redacted
  const { name, message } = (redacted ?? {}) as { readonly name?: unknown; readonly message?: unknown }
  if (typeof message === 'string') return typeof name === 'string' ? `${name}: ${message}` : message
  return JSON.stringify(redacted) ?? ''
}
