import { BelayError } from '../../errors.ts'
import { didYouMean } from '../../graph/index.ts'
import { storableText } from '../../storable-text.ts'
import type { Actor } from './change-of.ts'

const BY_MAX_CHARS = 200
const REASON_MAX_CHARS = 2_000

/** Who acts and why, for the run's history. */
export interface ActionOptions {
  /** Who: a name or an address, up to 200 characters. */
  readonly by?: string | undefined
  /** Why, up to 2,000 characters. */
  readonly reason?: string | undefined
}

/** Checks options when they are given. Throws `invalid_option`. */
export function checkActionOptions(method: string, options: object, others: readonly string[] = []): Actor {
  if (typeof options !== 'object' || options === null) {
    throw new BelayError(
      'invalid_option',
      `${method}: the options must be an object; got ${String(options)}.`,
    )
  }
  const known = ['by', 'reason', ...others]
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    throw new BelayError(
      'invalid_option',
      `${method} has no option "${name}".${didYouMean(name, known)} It takes ${known.join(', ')}.`,
    )
  }
  const { by, reason } = options as ActionOptions
  return {
    actor: text(method, 'by', by, BY_MAX_CHARS),
    reason: text(method, 'reason', reason, REASON_MAX_CHARS),
  }
}

function text(method: string, option: string, value: unknown, most: number): string | null {
  if (value === undefined) return null
  // An operator in a hurry is not told to look for a character that nobody sees.
  if (typeof value === 'string' && value.length <= most) return storableText(value)
  const got = typeof value === 'string' ? `${value.length} characters` : typeof value
  throw new BelayError(
    'invalid_option',
    `${method}: ${option} must be a text of up to ${most} characters; got ${got}.`,
  )
}
