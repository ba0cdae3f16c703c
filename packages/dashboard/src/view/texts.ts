import { type Quote, quoteWithoutPayloads, type SerialisedError } from '@belay/workflow'
import type { Place } from '../options.ts'

/** How much of errors a viewer sees. Their messages count as payloads: they often quote what a handler was given. */
export interface Texts {
  readonly isShown: boolean
  /** Name and message, or name and code. */
  error(error: ErrorToTell, step?: string): string
  /** Undefined for a viewer who may not see payloads. */
  input(input: unknown): unknown
  /** For the engine's sentences. A host that redacts payloads has no place for a note: it is left out. */
  readonly quote: Quote
}

type ErrorToTell = Pick<SerialisedError, 'name' | 'message' | 'code'>

export type Redact = (payload: unknown, place: Place) => unknown

export function textsFor(isShown: boolean, redact: Redact | undefined): Texts {
  if (!isShown) {
    const error: Texts['error'] = (given) => quoteWithoutPayloads({ ...given, what: 'error' })
    return { isShown, error, input: () => undefined, quote: quoteWithoutPayloads }
  }
  const error: Texts['error'] = (given, step) =>
    redact === undefined ? `${given.name}: ${given.message}` : redacted(redact, given, step)
  const input: Texts['input'] = (given) => (redact === undefined ? given : redact(given, { what: 'input' }))
  const quote: Quote = (quoted) => {
    switch (quoted.what) {
      case 'error':
        return error(quoted, quoted.step)
      case 'note':
        return redact === undefined ? quoted.note : ''
      case 'refusal': {
        const { reason } = quoted
        return redact === undefined ? reason : redacted(redact, { name: 'Error', message: reason })
      }
    }
  }
  return { isShown, error, input, quote }
}

function redacted(redact: Redact, { name, message, code }: ErrorToTell, step?: string): string {
  const given = { name, message, ...(code === undefined ? {} : { code }) }
  return textOf(redact(given, { what: 'error', step }))
}

function textOf(redacted: unknown): string {
  if (typeof redacted === 'string') return redacted
  const { name, message } = (redacted ?? {}) as { readonly name?: unknown; readonly message?: unknown }
  if (typeof message === 'string') return typeof name === 'string' ? `${name}: ${message}` : message
  return JSON.stringify(redacted) ?? ''
}

/** Ends a text with a full stop unless it ends a sentence already. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
