import type { RunConditions } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { type Kind, type OptionTable, Refusal, readAs, yesOrNo } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import type { Selection } from '../control/selected-runs.ts'
import { type RunReference, runLookup } from '../runs/run-reference.ts'
import { CONDITION_NAMES, checkConditions, type RunsMatching } from '../runs/runs-filter.ts'

/**
 * The runs to act on: those that match a filter with at least one condition, those in a list, or with `{ all: true }` every run that the action is
 * for.
 */
export type RunsToChange = RunsMatching | readonly RunReference[] | { readonly all: true }

const ALL = { all: { sets: 'whether every run is selected', takes: yesOrNo } } satisfies OptionTable

/** Checks which runs to act on. Throws `invalid_option`. */
export function checkSelection(call: string, runs: RunsToChange): Selection {
  const references = readAs(REFERENCES, runs)
  if (Refusal.is(references)) return checkBulkFilter(call, runs)
  return references.map((run) => runLookup(call, run as RunReference))
}

const REFERENCES: Kind<readonly unknown[]> = {
  words: 'a list of runs',
  read: (given) => (Array.isArray(given) ? Array.from(given) : new Refusal(shown(given))),
}

/** A bulk action without a condition needs an explicit `{ all: true }`. */
function checkBulkFilter(call: string, filter: unknown): RunConditions {
  const { all, ...narrowing } = checkConditions(call, filter, ALL)
  const names = Object.keys(narrowing)
  if (all === true && names.length > 0) {
    throw new BelayError('invalid_option', `${call}: all and ${names[0]} are both given. Keep one of them.`)
  }
  if (all === true || names.length > 0) return narrowing
  throw new BelayError(
    'invalid_option',
    `${call}: the filter is empty, and would match every run. Narrow it with ${CONDITION_NAMES.join(', ')}, or give { all: true } to select every run.`,
  )
}
