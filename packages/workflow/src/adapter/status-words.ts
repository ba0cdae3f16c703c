import { BelayError } from '../errors.ts'
import { isArray } from '../is-array.ts'
import { nearest } from '../nearest.ts'
import { shown } from '../shown.ts'
import { RUN_STATUSES, type RunStatus } from './lifecycle.ts'

/**
 * Runs that did not do what they were started for: failed with nothing to undo, undone after a failure, or parked, going forward or in their undo.
 * It is the notion of every surface for people. A cancelled run did what somebody wanted.
 */
export const FAILED_STATUSES = [
  'failed',
  'compensated',
  'compensation_failed',
  'parked',
] as const satisfies readonly RunStatus[]

/** Words of people and screens that are no statuses, or mean more than the status of that name. */
const WORDS = {
  failed: FAILED_STATUSES,
  'failed-only': ['failed'],
  undoing: ['compensating'],
  undone: ['compensated'],
  'undo-parked': ['compensation_failed'],
} as const satisfies Readonly<Record<string, readonly RunStatus[]>>

export type StatusWord = keyof typeof WORDS | RunStatus

/** Every word with which people ask for runs: the exact statuses, and those of the screens. */
export const STATUS_WORDS: readonly StatusWord[] = [
  ...new Set<StatusWord>([...RUN_STATUSES, ...(Object.keys(WORDS) as (keyof typeof WORDS)[])]),
]

/**
 * The statuses that a word asks for; undefined if it is no such word. `failed` asks for {@link FAILED_STATUSES}, `failed-only` for the exact status, and
 * every other status for itself. Case, and what stands between words, count nothing: `Undo parked` is a word of the screen.
 */
export function statusesOf(word: string): readonly RunStatus[] | undefined {
  if (typeof word !== 'string') return undefined
  const plain = plainly(word)
  const known = STATUS_WORDS.find((each) => plainly(each) === plain)
  if (known === undefined) return undefined
  return known in WORDS ? WORDS[known as keyof typeof WORDS] : [known as RunStatus]
}

/** The statuses that any of these words asks for. Throws `invalid_option` for what is no such word, and names the nearest one. */
export function statusesIn(words: readonly string[]): readonly RunStatus[] {
  if (!isArray(words)) return refuse(words)
  return [...new Set(words.flatMap((word) => statusesOf(word) ?? refuse(word)))]
}

function refuse(word: unknown): never {
  const near = typeof word === 'string' ? nearest(word, STATUS_WORDS) : undefined
  throw new BelayError('invalid_option', `No run has a status ${shown(word)}.`, {
    remedy: near === undefined ? `Give one of ${STATUS_WORDS.join(', ')}.` : `Did you mean "${near}"?`,
  })
}

function plainly(word: string): string {
  return word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, '-')
}
