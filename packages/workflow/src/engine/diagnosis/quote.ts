import type { SerialisedError } from '../../cause.ts'

/**
 * What a sentence quotes that may hold payloads. `error`: what a handler threw. `note`: what a running step told with its progress. `refusal`: why the
 * store refuses something, or why a schedule could not start a run: it may name rows or an input.
 */
export type Quoted =
  | (Pick<SerialisedError, 'name' | 'message' | 'code'> & {
      readonly what: 'error'
      readonly step?: string | undefined
    })
  | { readonly what: 'note'; readonly step: string; readonly note: string }
  | { readonly what: 'refusal'; readonly reason: string }

/** Tells within a sentence what it quotes. A note that becomes an empty text is left out. */
export type Quote = (quoted: Quoted) => string

/** An error by its name and message, a note and a refusal as they are: the default of `explain()` and `doctor()`. */
export const quoteInFull: Quote = (quoted) => {
  switch (quoted.what) {
    case 'error':
      return `${quoted.name}: ${quoted.message}`
    case 'note':
      return quoted.note
    case 'refusal':
      return quoted.reason
  }
}

/** For readers who may not see payloads: an error by its name and code, no note, and of a refusal that it has a reason. */
export const quoteWithoutPayloads: Quote = (quoted) => {
  switch (quoted.what) {
    case 'error':
      return quoted.code === undefined ? quoted.name : `${quoted.name} [${quoted.code}]`
    case 'note':
      return ''
    case 'refusal':
      return 'only who may read payloads sees the reason'
  }
}
