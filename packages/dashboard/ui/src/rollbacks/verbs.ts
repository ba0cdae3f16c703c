import type { ParkedGroup } from '../../../src/api/parked.ts'
import { figure } from '../words.ts'

/** For all runs of a group, and for one. */
export const VERBS = ['retryCompensation', 'skipCompensation'] as const
export type Verb = (typeof VERBS)[number]

export function bulkWords(verb: Verb, { runs }: ParkedGroup): string {
  const count = figure(runs.length)
  return verb === 'retryCompensation' ? `Retry ${count}…` : `Mark ${count} as undone…`
}
