import { BelayError } from '../../errors.ts'
import { didYouMean } from '../../graph/index.ts'
import { listed } from '../../graph/place.ts'
import { shown } from '../../shown.ts'

/** The error for a name that none of a run's steps has. */
export function unknownStep(
  run: { readonly runId: string; readonly workflow: string; readonly version: number },
  names: readonly string[],
  name: string,
): BelayError {
  return new BelayError(
    'invalid_option',
    `Run ${run.runId} of "${run.workflow}" (version ${run.version}) has no step ${shown(name)}.${didYouMean(name, names)} Its steps are ${listed(names)}.`,
    { runId: run.runId },
  )
}
