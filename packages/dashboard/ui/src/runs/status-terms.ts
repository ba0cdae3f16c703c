import type { RunStatus } from '@belay/graph-view'
import type { Session } from '../../../src/api.ts'
import { useLive } from '../live.ts'
import { RUN_STATUSES } from '../status.ts'
import type { Term } from './filter.ts'

type Words = Session['statuses']

/** What the words of a filter ask for: the server tells it. */
export function useStatusWords(): Words {
  return useLive<Session>('session').data?.statuses ?? {}
}

/** The statuses that a filter asks for by any of its words. */
export function statusesAskedFor(terms: readonly Term[], words: Words): ReadonlySet<RunStatus> {
  const known = new Map(Object.entries(words).map(([word, statuses]) => [plain(word), statuses]))
  return new Set(
    terms.flatMap(({ field, value }) => (field === 'status' ? (known.get(plain(value)) ?? []) : [])),
  )
}

/** The same filter, with another status or without one. */
export function flipped(terms: readonly Term[], status: RunStatus, words: Words): readonly Term[] {
  const chosen = statusesAskedFor(terms, words)
  const others = terms.filter(({ field }) => field !== 'status')
  const wanted = RUN_STATUSES.filter((each) => chosen.has(each) !== (each === status))
  return [...others, ...wanted.map((each) => ({ field: 'status' as const, value: exactWord(each, words) }))]
}

/** A word that asks for this status alone: its own name may ask for more. */
function exactWord(status: RunStatus, words: Words): string {
  if ((words[status]?.length ?? 1) === 1) return status
  const exact = Object.entries(words).find(([, statuses]) => statuses.length === 1 && statuses[0] === status)
  return exact?.[0] ?? status
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_-]+/g, '-')
}
